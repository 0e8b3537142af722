"""What is true in a house of TextWorldExpress, read from the simulator for records."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pddlego_local.core.nouns import Roles, TrueState
from pddlego_local.environments.maps import OPPOSITE
from pddlego_local.environments.textworld_express.house_map import pddl_name
from pddlego_local.environments.writing import Fact

STATES = ("sliced", "chopped", "diced", "fried", "roasted", "grilled")
_APPLIANCES = ("stove", "oven", "toaster", "barbeque")


class Watched:
    """A house that is watched from its reset on. Only the player's room is read again,
    since nothing changes elsewhere; all of it would take up to 25 ms.
    """

    def __init__(self, game: Any) -> None:
        """Takes a Java object `textworldexpress.struct.TextGame`."""
        self._game = game
        self._ways: dict[str, list[Fact]] = {}
        self._things: dict[str, list[Mapping[str, Any]]] = {}
        for room in game.locations():
            self._read(room)

    def state(self, predicates: Collection[tuple[str, int]], roles: Roles) -> TrueState:
        """Returns what is true now, as far as these predicates tell it."""
        room = self._game.agentLocation()
        self._read(room)
        known = dict(predicates)
        facts = {fact for fact in self._facts(room) if fact[0] in known}
        objects = dict.fromkeys(self._ways, "location")
        for fact in sorted(facts):
            for name in fact[1:]:
                objects.setdefault(name, "direction" if name in OPPOSITE else "thing")
        return TrueState(objects, frozenset(facts), frozenset(predicates), roles)

    def _read(self, room: Any) -> None:
        name = pddl_name(room.name())
        before = self._ways.get(name)
        self._ways[name] = [*_ways(room)]
        self._things[name] = [*_things(json.loads(room.toJSON()))]
        if before != self._ways[name]:
            self._turn_doors(name)

    def _turn_doors(self, room: str) -> None:
        """Opens and closes the doors of a room on their other sides, too."""
        for predicate, _, beyond, direction in self._ways[room]:
            other = (beyond, room, OPPOSITE[direction])
            ways = self._ways.get(beyond, [])
            if any(way[1:] == other for way in ways):
                ways = [way for way in ways if way[1:] != other]
                self._ways[beyond] = [*ways, (predicate, *other)]

    def _facts(self, room: Any) -> Iterator[Fact]:
        yield "at", pddl_name(room.name())
        for ways in self._ways.values():
            yield from ways
        for place, things in self._things.items():
            for thing in things:
                name = pddl_name(thing["name"])
                yield ("coin-at", place) if name == "coin" else ("obj-at", name, place)
                yield from _states(thing)
        for thing in _things(json.loads(self._game.agentInventory().toJSON())):
            yield "have", pddl_name(thing["name"])
            yield from _states(thing)


def _ways(room: Any) -> Iterator[Fact]:
    for direction in OPPOSITE:
        beyond = getattr(room, f"location{direction.capitalize()}")()
        if beyond is not None:
            door = getattr(room, f"door{direction.capitalize()}")()
            closed = door is not None and not door.isOpen()
            predicate = "closed-door" if closed else "connected"
            yield predicate, pddl_name(room.name()), pddl_name(beyond.name()), direction


def _things(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields what can be carried, and the appliances, however deep they lie."""
    for content in item["contents"].values():
        if content["isMovable"] or content["name"] in _APPLIANCES:
            yield content
        yield from _things(content)


def _states(thing: Mapping[str, Any]) -> Iterator[Fact]:
    for state in STATES:
        if thing[f"is{state.capitalize()}"]:
            yield state, pddl_name(thing["name"])
