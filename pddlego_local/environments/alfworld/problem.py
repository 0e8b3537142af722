"""What is known of an ALFWorld room, written as PDDL problem files.

Facts carry the game's names, ("in", "mug 3", "cabinet 1"), and lose their blanks when written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pddlego_local.environments.alfworld.room_map import RoomMap, pddl_name
from pddlego_local.environments.alfworld.task import STATES

Fact = tuple[str, ...]

MIDDLE = "init_receptacle"
"""Where one is before the first move; the name is PDDLego+'s (appendix C.6)."""


def here(room: RoomMap) -> Fact:
    return ("at", room.here or MIDDLE)


def facts(room: RoomMap, things: Sequence[str], places: Sequence[str]) -> Iterator[Fact]:
    """What is known about these things and places, and about the player."""
    yield here(room)
    if room.held:
        yield ("holding", room.held)
        yield ("hands-full",)
    for place in places:
        if place in room.closed:
            yield ("closed", place)
        elif place in room.inside:
            yield ("opened", place)
        elif room.beside(room.here, place):
            yield ("beside", room.here, place)
        inside = room.inside.get(place, ())
        yield from (("in", thing, place) for thing in inside if thing in things)
    for treatment, state in STATES.items():
        yield from ((state, thing) for thing in things if thing in room.treated[treatment])


def write(
    domain: str, typed: Mapping[str, str], facts: Iterable[Fact], goal: Sequence[Fact]
) -> str:
    """The problem file; `typed` are the objects with their types."""
    names = [f"{pddl_name(thing)} - {kind}" for thing, kind in typed.items()]
    goals = [_atom(fact) for fact in goal]
    return (
        f"(define (problem {domain}-now)\n"
        f"  (:domain {domain})\n"
        f"  (:objects\n    {_lines(names)})\n"
        f"  (:init\n    {_lines(map(_atom, facts))})\n"
        f"  (:goal (and {' '.join(goals)})))\n"
    )


def _atom(fact: Fact) -> str:
    return f"({' '.join(map(pddl_name, fact))})"


def _lines(items: Iterable[str]) -> str:
    return "\n    ".join(items)
