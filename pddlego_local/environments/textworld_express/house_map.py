"""Reads the texts of TextWorldExpress into a map of the house: its rooms, doors and
names.

It reads only texts, never the game's state. Rooms are spelled as in PDDL:
"living_room".
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pddlego_local.core.nouns import Goal, Names, Turn, Turns
from pddlego_local.environments.maps import OPPOSITE
from pddlego_local.environments.writing import Fact

UNVISITED = Goal(
    "be in a room that is not visited yet",
    "(exists (?loc - location) (and (at ?loc) (not (visited ?loc))))",
)

_ROOM = re.compile(r"You are in the ([a-z ]+?)\.")
_EXIT = re.compile(
    r"(?:Through an open [a-z -]+ door, to|To) the (North|South|East|West) you see "
    r"(?:(?P<closed>a closed [a-z -]+ door)|the (?P<room>[a-z ]+?))\.",
    re.IGNORECASE,
)
_OPENED = re.compile(r"revealing the ([a-z ]+)\.")
_SHUT = re.compile(r"You close the [a-z -]+ door to the ([a-z ]+)\.")

_IDIOM = re.compile(
    r"In (?:one|another) part of the room |You can't move there, the door is closed"
)
_STATES = "open|closed|raw|sliced|chopped|diced|fried|roasted|grilled"
_PHRASE = re.compile(
    rf"\b(?:[Aa]n?|[Ss]ome|[Tt]he) (?:(?:{_STATES}) )*([A-Za-z][A-Za-z -]*?)"
    r"(?=[.,\n]|$| (?:that|contains|in the|with the|to|on it|you see)\b)"
)


class Passage(NamedTuple):
    """A way from a room to another place. `closed` says that its door is closed."""

    start: str
    to: str
    direction: str
    closed: bool


@dataclass
class HouseMap:
    """The known facts about a house. `exits[room][direction]` is the name of a room, or
    None while the player has not seen what is behind that door. `closed` are the doors
    that are closed now, as (room, direction).
    """

    here: str = ""
    exits: dict[str, dict[str, str | None]] = field(default_factory=dict)
    closed: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, memory: Iterable[Turn]) -> "HouseMap":
        house = cls()
        for turn in memory:
            house.read(turn)
        return house

    def read(self, turn: Turn) -> None:
        if room := _ROOM.search(turn.text):
            self._read_room(pddl_name(room[1]), turn.text)
        elif opened := _OPENED.search(turn.text):
            self._turn_door(turn, opened[1], closed=False)
        elif shut := _SHUT.search(turn.text):
            self._turn_door(turn, shut[1], closed=True)

    def passages(self) -> Iterator[Passage]:
        """Yields all known passages. An unknown room is named after the door before it.
        A closed door that was seen from both sides has two such names, and
        neither is the real name of a room: the texts do not show that it is one door
        until it is opened.
        """
        for room, exits in self.exits.items():
            for direction, beyond in exits.items():
                place = beyond or f"behind_{room}_{direction}"
                closed = (room, direction) in self.closed
                yield Passage(room, place, direction, closed)

    def ways(self) -> list[Fact]:
        """Returns the passages as the facts that the references write."""
        facts: list[Fact] = []
        for way in self.passages():
            predicate = "closed-door" if way.closed else "connected"
            facts.append((predicate, way.start, way.to, way.direction))
        return facts

    def places(self) -> tuple[str, ...]:
        """Returns all known places, including unvisited rooms and the unknown rooms
        behind doors.
        """
        beyond = [way.to for way in self.passages()]
        return tuple(dict.fromkeys([*self.exits, *beyond]))

    def directions(self) -> list[str]:
        """Returns the directions of all passages, each once."""
        directions = [way.direction for way in self.passages()]
        return list(dict.fromkeys(directions))

    def nearest_unvisited(self) -> str | None:
        """Searches breadth-first from the current room. Opening a closed door costs one
        more action.
        """
        distance = {self.here: 0}
        queue = deque([self.here])
        nearest: str | None = None
        while queue:
            room = queue.popleft()
            for way in self.passages():
                if way.start != room:
                    continue
                actions = 2 if way.closed else 1
                cost = distance[room] + actions
                if way.to in distance and distance[way.to] <= cost:
                    continue
                distance[way.to] = cost
                if way.to in self.exits:
                    queue.append(way.to)
                elif nearest is None or cost < distance[nearest]:
                    nearest = way.to
        return nearest

    def _read_room(self, room: str, text: str) -> None:
        """Reads the description of a room, which names all exits. The room behind a
        door that is closed again stays known.
        """
        before = self.exits.get(room, {})
        exits: dict[str, str | None] = {}
        for match in _EXIT.finditer(text):
            direction = match[1].lower()
            if match["closed"]:
                exits[direction] = before.get(direction)
                self.closed.add((room, direction))
            else:
                exits[direction] = pddl_name(match["room"])
                self.closed.discard((room, direction))
        self.here = room
        self.exits[room] = exits

    def _turn_door(self, turn: Turn, beyond: str, *, closed: bool) -> None:
        """Opens or closes a door of the current room, on both sides. An old record may
        name no direction, because the game overlooked a control character.
        """
        direction = turn.command.split()[-1]
        if direction not in OPPOSITE:
            return
        room_beyond = pddl_name(beyond)
        self._set_exit(self.here, direction, room_beyond, closed=closed)
        self._set_exit(room_beyond, OPPOSITE[direction], self.here, closed=closed)

    def _set_exit(self, room: str, direction: str, to: str, *, closed: bool) -> None:
        if room not in self.exits:
            return
        self.exits[room][direction] = to
        if closed:
            self.closed.add((room, direction))
        else:
            self.closed.discard((room, direction))


def mentioned(text: str) -> list[str]:
    """Returns the names in a text of the game, in order: rooms, directions, doors,
    things.
    """
    names = []
    for name in _PHRASE.findall(_IDIOM.sub("", text)):
        is_direction = name.lower() in OPPOSITE
        names.append(name.lower() if is_direction else name)
    return names


def names(
    memory: Turns, mentioned: Callable[[str], Iterable[str]] = mentioned
) -> Names:
    """Returns all names in a memory. `mentioned` finds the names in one text."""
    house = HouseMap()
    spellings: dict[str, str] = {}  # PDDL's spelling → the game's, "" for a placeholder
    for turn in memory:
        for name in mentioned(turn.text):
            spellings.setdefault(pddl_name(name), name)
        house.read(turn)
        for place in house.places():
            spellings.setdefault(place, "")
    places = house.places()
    objects = []
    things = []
    for name, thing in spellings.items():
        if thing or name in places:
            objects.append(name)
        if thing:
            things.append(thing)
    return Names(tuple(objects), tuple(things))


def pddl_name(words: str) -> str:
    """Returns a game's name as PDDL, which ignores case, spells it: "TV stand" becomes
    "tv_stand"."""
    return words.strip().lower().replace(" ", "_")
