"""A whole house, read from the simulator's own state: for the record, never for who plays.

Nothing of it is in an observation before it is seen, and reading it changes nothing.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pddlego_local.environments.textworld_express.house_map import OPPOSITE


@dataclass(frozen=True)
class Thing:
    """What can be carried, and where it lies: ("kitchen", "fridge"). `states` are its properties
    by the simulator's names, `says` is what can be read on it."""

    name: str
    place: tuple[str, ...]
    states: tuple[str, ...]
    says: str


@dataclass(frozen=True)
class House:
    """`start` is where one begins; `ways` are (room, direction, room beyond, "door" or "")."""

    start: str
    ways: tuple[tuple[str, str, str, str], ...]
    things: tuple[Thing, ...]

    @classmethod
    def read(cls, game: Any) -> "House":
        """Of a Java object `textworldexpress.struct.TextGame` in a house. Takes 5 to 25 ms."""
        rooms = list(game.locations())
        return cls(
            game.agentLocation().name(),
            tuple(sorted(way for room in rooms for way in _ways(room))),
            tuple(thing for room in rooms for thing in _things(json.loads(room.toJSON()), ())),
        )


def _ways(room: Any) -> Iterator[tuple[str, str, str, str]]:
    for direction in OPPOSITE:
        side = direction.capitalize()
        if (beyond := getattr(room, f"location{side}")()) is not None:
            door = getattr(room, f"door{side}")()
            yield room.name(), direction, beyond.name(), "" if door is None else "door"


def _things(told: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[Thing]:
    if told["isMovable"]:
        states = tuple(sorted(key for key, value in told.items() if value is True))
        yield Thing(told["name"], place, states, told["readText"])
    for content in told["contents"].values():
        yield from _things(content, (*place, told["name"]))
