"""What a perfect model would answer."""

import re
from collections.abc import Sequence

from pddlego_local.core.nouns import Turn
from pddlego_local.environments.tables import Tables

TABLES = Tables.load(__package__)
command = TABLES.command


def formalize(
    memory: Sequence[Turn], goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """The next room that is not visited yet, until the lamp is seen."""
    visited, ways, lamp = _read(memory)
    here = visited[-1]
    new = [room for beside in ways.values() for room in beside if room not in visited]
    nearest = min(new, key=lambda room: abs(int(room[5:]) - int(here[5:])), default=here)
    return TABLES.domain, _write(memory, "(lit)" if lamp else f"(at {nearest})")


def problem(memory: Sequence[Turn]) -> str:
    return _write(memory, "(lit)")


def _read(memory: Sequence[Turn]) -> tuple[list[str], dict[str, list[str]], str]:
    """The rooms in the order of the visits, where each leads, and the lamp's; "room_3"."""
    visited: list[str] = []
    ways: dict[str, list[str]] = {}
    lamp = ""
    for turn in memory:
        if rooms := [f"room_{number}" for number in re.findall(r"room (\d+)", turn.text)]:
            visited.append(rooms[0])
            ways[rooms[0]] = rooms[1:]
            lamp = rooms[0] if "lamp" in turn.text else lamp
    return visited, ways, lamp


def _write(memory: Sequence[Turn], goal: str) -> str:
    visited, ways, lamp = _read(memory)
    rooms = " ".join(dict.fromkeys([*visited, *(to for beside in ways.values() for to in beside)]))
    facts = [f"(at {visited[-1]})", *(f"(visited {room})" for room in dict.fromkeys(visited))]
    facts += [f"(beside {room} {to})" for room, beside in ways.items() for to in beside]
    facts += [f"(lamp-in {lamp})"] * bool(lamp)
    return (
        "(define (problem game) (:domain corridor)\n"
        f"  (:objects {rooms} - room)\n  (:init {' '.join(facts)})\n  (:goal {goal}))\n"
    )
