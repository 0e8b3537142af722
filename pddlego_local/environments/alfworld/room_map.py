"""Reads ALFWorld's observations into a map of the room: what a player knows.

It reads only texts, never the game's state. Names are the game's: "mug 3".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from pddlego_local.core.nouns import Turn, Turns
from pddlego_local.environments import family

SEARCH: list[str] = family.words(__package__, "search.yaml")["order"]
"""The classes of receptacles, in the order in which they are looked into."""
MIDDLE = "init_receptacle"
"""The PDDL name of the player's place before the first move, from PDDLego+ (appendix
C.6).
"""

UNDOES = {"heat": "cool", "cool": "heat"}
"""Treatment → the treatment whose effect it ends."""

_THING = r"([a-z]+ \d+)"
_MENTIONED = re.compile(rf"\b{_THING}\b")
_LISTED = re.compile(rf"\ban? {_THING}")
_ARRIVED = re.compile(rf"You arrive at {_THING}\.")
_SEEN = re.compile(
    rf"(?:On the {_THING},|The {_THING} is open\. In it,) you see ([^\n]*)\."
)
_CLOSED = re.compile(rf"The {_THING} is closed\.|You close the {_THING}\.")
_TAKEN = re.compile(rf"You pick up the {_THING} from the {_THING}\.")
_MOVED = re.compile(rf"You move the {_THING} to the {_THING}\.")
_TREATED = re.compile(rf"You (clean|heat|cool|slice|turn on)d? the {_THING}\b")


def class_of(thing: str) -> str:
    """Returns the class of a thing: "mug 3" is a "mug"."""
    return thing.partition(" ")[0]


def pddl_name(thing: str) -> str:
    """Returns the PDDL name of a thing: "mug 3" is mug3."""
    return thing.replace(" ", "")


def of_class(name: str, things: Iterable[str]) -> list[str]:
    return [thing for thing in things if class_of(thing) == name]


def _search_rank(place: str) -> int:
    kind = class_of(place)
    if kind not in SEARCH:
        return len(SEARCH)
    return SEARCH.index(kind)


def mentioned(memory: Iterable[Turn]) -> tuple[str, ...]:
    """Returns all receptacles and objects that were named, in order."""
    things = []
    for turn in memory:
        things += _MENTIONED.findall(turn.text)
    return tuple(dict.fromkeys(things))


@dataclass
class RoomMap:
    """The known facts about the room. `here` is "" in the middle of the room, and
    `held` is "" for empty hands.

    `inside[receptacle]` are the objects in or on a receptacle that was looked into.
    `closed` are the receptacles that were seen closed and not opened since.
    `taken_from[object]` is where an object lay last. `spots[receptacle]` are all
    receptacles that stand at the same spot. The player cannot go from one of them to
    another, and can use all of them from there; to see what is on one, the player has
    to arrive at it from elsewhere. `treated["heat"]` are the objects that were heated.
    """

    receptacles: Sequence[str] = ()
    here: str = ""
    held: str = ""
    visited: list[str] = field(default_factory=list)
    inside: dict[str, list[str]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    taken_from: dict[str, str] = field(default_factory=dict)
    spots: dict[str, set[str]] = field(default_factory=dict)
    treated: defaultdict[str, set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )

    @classmethod
    def of(cls, memory: Turns, offered: Sequence[str] = ()) -> Self:
        """Reads a memory. `offered` are the commands that are possible now, if a
        question lists them. They have no "go to" for the receptacles that share the
        player's spot.
        """
        room = cls()
        for turn in memory:
            room._read(turn)
        for place in room.receptacles:
            if offered and f"go to {place}" not in offered:
                room._join(place)
        return room

    @property
    def objects(self) -> list[str]:
        """Returns all objects whose place is known, the held one first."""
        objects = [self.held] if self.held else []
        for things in self.inside.values():
            objects += things
        return list(dict.fromkeys(objects))

    def where(self, thing: str) -> str:
        """Returns the receptacle that an object is in, the current one if it is there;
        "" if it is held or unknown.
        """
        places = [place for place, things in self.inside.items() if thing in things]
        if self.here in places:
            return self.here
        return places[0] if places else ""

    def next_place(self, sought: str) -> str:
        """Returns the best place that was not looked into yet, for a class of objects
        or of receptacles; "" if there is none.

        Classes of receptacles come in the order of search.yaml. Classes that it does
        not name come last, in the order of the first observation. A closed receptacle
        that the player stands at comes first, because opening it is one action.
        Receptacles that share the player's spot come last, because the player has to
        leave and come back to see them.
        """

        unexplored = [place for place in self.receptacles if place not in self.inside]
        suitable = of_class(sought, unexplored) or unexplored
        if self.here in suitable and self.here in self.closed:
            return self.here
        apart = [place for place in suitable if not self.beside(self.here, place)]
        return min(apart or suitable, key=_search_rank, default="")

    def beside(self, first: str, second: str) -> bool:
        return first != second and second in self.spots.get(first, ())

    def _read(self, turn: Turn) -> None:
        text = turn.text
        if not self.receptacles:
            seen, *_ = text.partition("Your task is to")
            self.receptacles = _LISTED.findall(seen)
        elif text.startswith("Nothing happens"):
            self._stay(turn.command.removeprefix("go to "))
        elif taken := _TAKEN.search(text):
            thing, place = taken.groups()
            self._take(thing, place)
        elif put := _MOVED.search(text):
            thing, place = put.groups()
            self.held = ""
            self.inside.setdefault(place, []).append(thing)
        elif treated := _TREATED.search(text):
            treatment, thing = treated.groups()
            self._treat(treatment, thing)
        else:
            self._read_receptacle(text)

    def _read_receptacle(self, text: str) -> None:
        if arrived := _ARRIVED.search(text):
            self.here = arrived[1]
            self.visited.append(self.here)
        if closed := _CLOSED.search(text):
            self.closed.add(closed[1] or closed[2])
        if seen := _SEEN.search(text):
            on, inside, listed = seen.groups()
            place = on or inside
            self.closed.discard(place)
            things = _LISTED.findall(listed)
            self.inside[place] = [thing for thing in things if thing != self.held]

    def _stay(self, target: str) -> None:
        """Handles a refused command: the player cannot go where they already are, which
        includes other receptacles at the same spot.
        """
        self._join(target)
        if self.beside(self.here, target) and target in self.visited:
            self.here = target

    def _join(self, target: str) -> None:
        """Records that the receptacle is at the player's spot."""
        if not self.here or target == self.here or target not in self.receptacles:
            return
        together = {self.here, target}
        for place in (self.here, target):
            together |= self.spots.get(place, set())
        for place in together:
            self.spots[place] = together

    def _take(self, thing: str, place: str) -> None:
        """Removes the object from every receptacle: it can be listed in two, such as a
        machine and its countertop.
        """
        self.held = thing
        self.taken_from[thing] = place
        for things in self.inside.values():
            if thing in things:
                things.remove(thing)

    def _treat(self, treatment: str, thing: str) -> None:
        self.treated[treatment].add(thing)
        if treatment in UNDOES:
            self.treated[UNDOES[treatment]].discard(thing)
