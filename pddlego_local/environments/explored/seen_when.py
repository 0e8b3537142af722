"""The author's conditions for facts to be seen: `see`.

`inside: (and (stands ?c ?here) (open ?c))` says that a fact `(inside ?k ?c)` is seen
where the container stands, if it is open. The variables are those of the predicate as
the domain declares it, and `?here`, the player's place. `always` is a condition, too,
and a list of conditions means or. A condition replaces the rules of sight.py for its
predicate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.environments.explored.world import World
from pddlego_local.environments.own_pddl import goal_fault
from pddlego_local.pddl.reader import read, words_in
from pddlego_local.pddl.task import TypedName

ALWAYS = "always"
HERE = "?here"


@dataclass(frozen=True)
class SeenWhen:
    """The condition in PDDL for the facts of one predicate to be seen. `free` are the
    parameters that it names, and `names_here` says whether it names the player's place.
    """

    condition: str
    free: Sequence[TypedName] = ()
    names_here: bool = False

    @property
    def is_always(self) -> bool:
        return self.condition == ALWAYS


def seen_when(world: World) -> Mapping[str, SeenWhen]:
    """Returns the author's conditions by predicate. Raises ConfigError for one that the
    planner would not understand.
    """
    return {name: _seen_when(world, name) for name in world.file.see}


def _seen_when(world: World, name: str) -> SeenWhen:
    key = f"see.{name}"
    if name not in world.predicates:
        known = ", ".join(world.predicates)
        raise world.wrong(key, f"there is no such predicate; there are {known}")
    written = world.file.see[name]
    texts = [written] if isinstance(written, str) else written
    if ALWAYS in texts:
        return SeenWhen(ALWAYS)
    condition = texts[0] if len(texts) == 1 else f"(or {' '.join(texts)})"
    block = read(condition)
    if not texts or block is None:
        raise world.wrong(
            key, f"{condition!r} is no condition; write one in PDDL, or {ALWAYS}"
        )
    parameters = world.predicates[name].parameters or []
    declared = [f"{entry.name} - {min(entry.type_names)}" for entry in parameters]
    declared.append(f"{HERE} - {min(world.here.place.type_names)}")
    closed = f"(exists ({' '.join(declared)}) {condition})"
    if fault := goal_fault(world.domain_without_costs, closed):
        raise world.wrong(key, fault)
    used = {word.name for word in words_in(block)}
    free = [entry for entry in parameters if entry.name in used]
    return SeenWhen(condition, free, HERE in used)
