"""What is true in an ALFWorld game, in the words of domain.pddl, for records.

The engine has words of its own: "inreceptacle mug 1 cabinet 2" and "atlocation agent1
loc 4".
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from pddlego_local.core.nouns import Roles, TrueState
from pddlego_local.environments.alfworld.room_map import MIDDLE, pddl_name
from pddlego_local.environments.writing import Fact

STATES = {
    "istoggled": "used",
    "ishot": "hot",
    "isclean": "clean",
    "iscool": "cool",
    "issliced": "sliced",
}
READ = (
    "atlocation", "receptacleatlocation", "openable", "opened", "inreceptacle", "holds",
    *STATES,
)  # fmt: skip
"""The engine's predicates that are read."""

PREDICATES = frozenset(
    {("at", 1), ("beside", 2), ("closed", 1), ("opened", 1), ("in", 2)}
    | {("holding", 1), ("hands-full", 0)}
    | {(state, 1) for state in STATES.values()}
)


def true_state(facts: Collection[Sequence[str]], roles: Roles) -> TrueState:
    """Takes the true facts in the engine's words, with the texts' names of things."""
    terms = defaultdict[str, list[list[str]]](list)
    for predicate, *names in facts:
        terms[predicate].append([pddl_name(name) for name in names])
    true = frozenset(_facts(terms))
    receptacles = [receptacle for receptacle, _ in terms["receptacleatlocation"]]
    objects = dict.fromkeys([*receptacles, MIDDLE], "receptacle")
    for fact in sorted(true):
        for name in fact[1:]:
            objects.setdefault(name, "object")
    return TrueState(objects, true, PREDICATES, roles)


def _facts(terms: dict[str, list[list[str]]]) -> Iterator[Fact]:
    openable = {receptacle for (receptacle,) in terms["openable"]}
    opened = {receptacle for (receptacle,) in terms["opened"]}
    at_spot = defaultdict[str, list[str]](list)
    for receptacle, spot in terms["receptacleatlocation"]:
        at_spot[spot].append(receptacle)
        closed = receptacle in openable - opened
        yield "closed" if closed else "opened", receptacle
    for _, spot in terms["atlocation"]:
        for receptacle in at_spot.get(spot, [MIDDLE]):
            yield "at", receptacle
    for together in at_spot.values():
        for first in together:
            yield from (
                ("beside", first, other) for other in together if other != first
            )
    for thing, receptacle in terms["inreceptacle"]:
        yield "in", thing, receptacle
    for _, thing in terms["holds"]:
        yield "holding", thing
        yield ("hands-full",)
    for predicate, state in STATES.items():
        yield from ((state, thing) for (thing,) in terms[predicate])
