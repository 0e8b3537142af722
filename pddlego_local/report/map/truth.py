"""Compares what a problem file says with what is true, and with what the player was
told.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from pddlego_local.core.nouns import TrueState
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import read_task
from pddlego_local.report.map.world import World, predicate_of


class Differences(NamedTuple):
    """`wrong` facts are believed, and neither true nor told. `missed` ones were told,
    and are not believed. `unseen` ones are true, and neither told nor believed.
    `other_words` are the believed predicates that the environment does not have: their
    facts are not compared.
    """

    wrong: frozenset[Fact]
    missed: frozenset[Fact]
    unseen: frozenset[Fact]
    other_words: tuple[str, ...]


def compare(
    believed: World, true: TrueState, told: frozenset[Fact] | None
) -> Differences | None:
    """Returns the differences, or None if no fact can be compared because the model has
    words of its own. `told` are the facts of the reference's problem for the same
    memory, None if they are unknown; then nothing counts as missed.
    """
    known = {fact for fact in believed.facts if predicate_of(fact) in true.predicates}
    other = {fact[0] for fact in believed.facts - known}
    if not known and other:
        return None
    shown = {fact for fact in told or () if predicate_of(fact) in true.predicates}
    return Differences(
        wrong=frozenset(known - true.facts - shown),
        missed=frozenset(shown - known),
        unseen=true.facts - known - shown,
        other_words=tuple(sorted(other)),
    )


def true_world(true: TrueState, believed: World) -> World:
    """Returns the true state as a world. If the environment does not say which words
    mean the player, the believed world does.
    """
    world = World(objects=true.objects, facts=true.facts, here=believed.here)
    return world.with_roles(true)


def walked(
    domain: str, problem: str, plan: Collection[str], world: World
) -> Iterator[str]:
    """Yields the objects where the player is on the way of a plan; nothing if the plan
    cannot be followed in the files.
    """
    if not plan or not world.here:
        return
    try:
        task = read_task(domain, problem)
        state = task.initial
        places = [_place(state.facts, world)]
        for action in plan:
            state = task.successor(state, action.lower().strip("()").split())
            places.append(_place(state.facts, world))
    except (ValueError, LookupError, AttributeError, StopIteration, RecursionError):
        return
    yield from filter(None, places)


def _place(facts: Collection[Fact], world: World) -> str:
    places = sorted(fact[-1] for fact in facts if predicate_of(fact) in world.here)
    return places[0] if len(places) == 1 else ""
