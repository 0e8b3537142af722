"""The receptacles of a room: what was seen in them, and what a problem file says."""

from collections.abc import Sequence

from pddlego_local.core.nouns import Turn
from pddlego_local.environments.alfworld.room_map import RoomMap, pddl_name
from pddlego_local.environments.maps import Known
from pddlego_local.pddl.edit import facts_as_names


def known(turns: Sequence[Turn], problem: str) -> list[Known]:
    """One line for each receptacle, and the facts that name it."""
    resets = [number for number, turn in enumerate(turns) if turn == turns[0]]
    rooms = [
        RoomMap.of(turns[begin:end])
        for begin, end in zip(resets, [*resets[1:], len(turns)], strict=True)
    ]
    facts = facts_as_names(problem)
    lines = []
    for place in rooms[-1].receptacles if rooms else ():
        written = [f"({' '.join(fact)})" for fact in facts if pddl_name(place) in fact[1:]]
        lines.append(Known(place, _seen(place, rooms), " ".join(written)))
    return lines


def _seen(place: str, rooms: Sequence[RoomMap]) -> str:
    """What is in it, by the latest attempt that looked."""
    for room in reversed(rooms):
        if place in room.inside:
            return ", ".join(room.inside[place]) or "empty"
        if place in room.closed:
            return "closed"
    return "not looked into"
