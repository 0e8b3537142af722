"""Plays generated ALFWorld games without the engine: the same texts, some hundred times
faster. `tests/test_alfworld_simulation.py` compares it with the engine.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from pddlego_local.core.nouns import Observation
from pddlego_local.environments.alfworld.game import BANNER, Alfworld
from pddlego_local.environments.alfworld.games.game import GeneratedGame, make_game
from pddlego_local.environments.alfworld.games.house import Thing
from pddlego_local.environments.alfworld.games.layout import (
    KNIVES,
    LAMP,
    UNTOUCHED,
    Receptacle,
    catalogue,
    off_grid,
    sorting_key,
)
from pddlego_local.environments.alfworld.room_map import UNDOES

NOTHING = "Nothing happens."
_COMMAND = re.compile(
    r"(?P<verb>go to|open|close|use|take|move|heat|cool|clean|slice) (?P<first>[a-z]+"
    r" \d+)"
    r"(?: (?P<word>from|to|with) (?P<second>[a-z]+ \d+))?"
)
_WORDS = {"take": "from", "move": "to"} | dict.fromkeys(
    ("heat", "cool", "clean", "slice"), "with"
)
_TOOLS = {"heat": "Microwave", "cool": "Fridge", "clean": "SinkBasin"}
Part = Thing | Receptacle


class SimulatedAlfworld(Alfworld):
    """Rooms as in ALFRED. A room has all receptacles of the floor plan or any number of
    them, and some of them share a spot.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._process = Simulation()  # type: ignore[assignment]

    def _find(self, seed: int) -> GeneratedGame:
        task_type = self.task_types[seed % len(self.task_types)]
        return make_game(seed, task_type, self.split, as_wide=True)


class Simulation:
    """Replaces `process.GameProcess` for generated games."""

    def begin(self, game: GeneratedGame) -> Observation:
        self._house, self._task = game.house, game.task
        parts: list[Part] = [*game.house.receptacles, *game.house.things]
        self._known = {self._name(part): part for part in parts}
        self._inside: dict[Thing, set[Receptacle]] = {}
        for thing in game.house.things:
            self._inside[thing] = {thing.inside}
            if thing.also:
                self._inside[thing].add(thing.also)
        self._held: Thing | None = None
        self._place = off_grid(0)
        self._opened: set[Receptacle] = set()
        self._done = defaultdict[str, set[Thing]](set)
        seen = self._listed(game.house.receptacles)
        return Observation(
            f"{BANNER}\n\nYou are in the middle of a room. Looking quickly around you,"
            f" you see {seen}.\n\nYour task is to: {game.sentence}."
        )

    def step(self, command: str) -> Observation:
        parsed = _COMMAND.fullmatch(command)
        text = NOTHING
        if parsed and parsed["word"] == _WORDS.get(parsed["verb"]):
            first = self._known.get(parsed["first"])
            second = self._known.get(parsed["second"] or "")
            text = self._carry_out(parsed["verb"], first, second)
        return Observation(text, success=self._won())

    def close(self) -> None: ...

    def _carry_out(self, verb: str, first: Part | None, second: Part | None) -> str:
        match first, second:
            case Receptacle() as place, None:
                return self._stand(verb, place)
            case Thing() as thing, None if verb == "use":
                return self._use(thing)
            case Thing() as thing, Thing() as knife if verb == "slice":
                return self._slice(thing, knife)
            case Thing() as thing, Receptacle() as place:
                return self._handle(verb, thing, place)
        return NOTHING

    def _name(self, part: Part) -> str:
        return self._house.names[part.id]

    def _stand(self, verb: str, place: Receptacle) -> str:
        name = self._name(place)
        here = self._place == place.place
        if verb == "go to" and not here:
            self._place = place.place
            return f"You arrive at {name}. {self._look_at(place)}"
        if verb == "open" and here and self._is_closed(place):
            self._opened.add(place)
            return f"You open the {name}. {self._look_at(place)}"
        if verb == "close" and here and place in self._opened:
            self._opened.remove(place)
            return f"You close the {name}."
        return NOTHING

    def _is_closed(self, place: Receptacle) -> bool:
        return place.opens and place not in self._opened

    def _look_at(self, place: Receptacle) -> str:
        name = self._name(place)
        if self._is_closed(place):
            return f"The {name} is closed."
        inside = [thing for thing, places in self._inside.items() if place in places]
        seen = f"you see {self._listed(inside)}."
        if place.opens:
            return f"The {name} is open. In it, {seen}"
        return f"On the {name}, {seen}"

    def _listed(self, parts: Iterable[Part]) -> str:
        ordered = sorted(parts, key=lambda part: sorting_key(part.id))
        names = [f"a {self._name(part)}" for part in ordered]
        *others, last = names or ["nothing"]
        return f"{', '.join(others)}, and {last}" if others else last

    def _is_here(self, thing: Thing) -> bool:
        return any(place.place == self._place for place in self._inside[thing])

    def _use(self, thing: Thing) -> str:
        if thing.kind != LAMP or not self._is_here(thing):
            return NOTHING
        self._done["use"].add(thing)
        return f"You turn on the {self._name(thing)}."

    def _slice(self, thing: Thing, knife: Thing) -> str:
        sliceable = thing.kind in catalogue().able["sliceable"]
        cuts = knife.kind in KNIVES and knife == self._held
        if not (sliceable and cuts and self._is_here(thing)):
            return NOTHING
        self._done["slice"].add(thing)
        return f"You sliced the {self._name(thing)} with the {self._name(knife)}."

    def _handle(self, verb: str, thing: Thing, place: Receptacle) -> str:
        """Carries out a command with a thing and a receptacle, where the player must
        stand.
        """
        if self._place != place.place:
            return NOTHING
        a, b = self._name(thing), self._name(place)
        if verb == "take":
            taken = self._take(thing, place)
            return f"You pick up the {a} from the {b}." if taken else NOTHING
        if self._held != thing:
            return NOTHING
        classes = catalogue()
        if verb == "move":
            if self._is_closed(place) or thing.kind not in classes.holds[place.kind]:
                return NOTHING
            self._held = None
            self._inside[thing].add(place)
            return f"You move the {a} to the {b}."
        able = classes.able.get(f"{verb}able", frozenset())
        if place.kind != _TOOLS.get(verb) or thing.kind not in able:
            return NOTHING
        self._done[verb].add(thing)
        if verb in UNDOES:
            self._done[UNDOES[verb]].discard(thing)
        return f"You {verb} the {a} using the {b}."

    def _take(self, thing: Thing, place: Receptacle) -> bool:
        is_free = self._held is None and thing.kind not in UNTOUCHED
        if not is_free or place not in self._inside[thing] or self._is_closed(place):
            return False
        self._held = thing
        self._inside[thing].remove(place)
        return True

    def _won(self) -> bool:
        task = self._task
        if not task.target:
            lit = any(self._is_here(lamp) for lamp in self._done["use"])
            return lit and self._held is not None and self._held.kind == task.kind
        verb, _ = task.treatment
        needed = [self._done[verb]] if verb else []
        if task.sliced:
            needed.append(self._done["slice"])
        placed: Counter[Receptacle] = Counter()
        for thing, places in self._inside.items():
            if thing.kind == task.kind and all(thing in done for done in needed):
                placed.update(place for place in places if place.kind == task.target)
        return max(placed.values(), default=0) >= task.amount
