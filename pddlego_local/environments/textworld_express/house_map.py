"""Reads the texts of TextWorldExpress into a map of the house: its rooms, doors and
names.

It reads only texts, never the game's state. Rooms are spelled as in PDDL:
"living_room".
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pddlego_local.core.nouns import Goal, Names, Turn, Turns
from pddlego_local.environments.writing import Fact

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
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
            self._turn_door(turn.command.split()[-1], opened[1], closed=False)
        elif shut := _SHUT.search(turn.text):
            self._turn_door(turn.command.split()[-1], shut[1], closed=True)

    def passages(self) -> Iterator[tuple[str, str, str, bool]]:
        """Yields (from, to, direction, closed). An unknown room is named after the door
        before it. A closed door that was seen from both sides has two such names, and
        neither is the real name of a room: the texts do not show that it is one door
        until it is opened.
        """
        for room, exits in self.exits.items():
            for direction, beyond in exits.items():
                place = beyond or f"behind_{room}_{direction}"
                yield room, place, direction, (room, direction) in self.closed

    def ways(self) -> list[Fact]:
        """Returns the passages as the facts that the references write."""
        return [
            ("closed-door" if closed else "connected", start, to, direction)
            for start, to, direction, closed in self.passages()
        ]

    def places(self) -> tuple[str, ...]:
        """Returns all known places, including unvisited rooms and the unknown rooms
        behind doors.
        """
        return tuple(
            dict.fromkeys([*self.exits, *(to for _, to, _, _ in self.passages())])
        )

    def nearest_unvisited(self) -> str | None:
        """Searches breadth-first from the current room. Opening a closed door costs one
        more action.
        """
        distance = {self.here: 0}
        queue = deque([self.here])
        best: tuple[int, str] | None = None
        while queue:
            room = queue.popleft()
            for start, to, _, closed in self.passages():
                cost = distance[room] + 1 + closed
                if start != room or distance.get(to, cost + 1) <= cost:
                    continue
                distance[to] = cost
                if to in self.exits:
                    queue.append(to)
                elif best is None or cost < best[0]:
                    best = (cost, to)
        return best[1] if best else None

    def _read_room(self, room: str, text: str) -> None:
        """Reads the description of a room, which names all exits. The room behind a
        door that is closed again stays known.
        """
        before = self.exits.get(room, {})
        self.here, self.exits[room] = room, {}
        for match in _EXIT.finditer(text):
            direction = match[1].lower()
            if match["closed"]:
                self.exits[room][direction] = before.get(direction)
                self.closed.add((room, direction))
            else:
                self.exits[room][direction] = pddl_name(match["room"])
                self.closed.discard((room, direction))

    def _turn_door(self, direction: str, beyond: str, *, closed: bool) -> None:
        """Opens or closes a door of the current room, on both sides. An old record may
        name no direction, because the game overlooked a control character.
        """
        if direction not in OPPOSITE:
            return
        room_beyond = pddl_name(beyond)
        sides = (
            (self.here, direction, room_beyond),
            (room_beyond, OPPOSITE[direction], self.here),
        )
        for room, way, behind in sides:
            if room in self.exits:
                self.exits[room][way] = behind
                (self.closed.add if closed else self.closed.discard)((room, way))


def mentioned(text: str) -> list[str]:
    """Returns the names in a text of the game, in order: rooms, directions, doors,
    things.
    """
    phrases = (match[1] for match in _PHRASE.finditer(_IDIOM.sub("", text)))
    return [name.lower() if name.lower() in OPPOSITE else name for name in phrases]


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
    return Names(
        tuple(name for name, thing in spellings.items() if thing or name in places),
        tuple(filter(None, spellings.values())),
    )


def pddl_name(words: str) -> str:
    """Returns a game's name as PDDL, which ignores case, spells it: "TV stand" becomes
    "tv_stand"."""
    return words.strip().lower().replace(" ", "_")
