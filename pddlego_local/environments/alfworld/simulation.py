"""Plays generated ALFWorld games without the engine, for training: the same texts, some
hundred times faster. `tests/environments/test_alfworld_simulation.py` compares it with
the engine.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from pddlego_local.core.nouns import Observation
from pddlego_local.environments.alfworld.game import BANNER, Alfworld
from pddlego_local.environments.alfworld.games import layout
from pddlego_local.environments.alfworld.games.game import Game, make_game
from pddlego_local.environments.alfworld.games.house import Thing

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
_UNDONE = {"heat": "cool", "cool": "heat"}


class SimulatedAlfworld(Alfworld):
    """Rooms as in ALFRED. A room has all receptacles of the floor plan or any number of
    them, and some of them share a spot.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._process = Simulation()  # type: ignore[assignment]

    def _find(self, seed: int) -> Game:
        task_type = self.task_types[seed % len(self.task_types)]
        return make_game(seed, task_type, self.split, as_wide=True)


class Simulation:
    """Replaces `process.GameProcess` for generated games."""

    def begin(self, game: Game) -> Observation:
        self._house, self._task = game.house, game.task
        parts: tuple[Thing | layout.Receptacle, ...] = (
            game.house.receptacles + game.house.things
        )
        self._known = {self._name(part): part for part in parts}
        self._inside = {
            thing: {place for place in (thing.inside, thing.also) if place}
            for thing in game.house.things
        }
        self._held: Thing | None = None
        self._place, self._opened = layout.off_grid(0), set[layout.Receptacle]()
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
            verb: str = parsed["verb"]
            match (
                self._known.get(parsed["first"]),
                self._known.get(parsed["second"] or ""),
            ):
                case layout.Receptacle() as place, None if verb in (
                    "go to",
                    "open",
                    "close",
                ):
                    text = self._stand(verb, place)
                case Thing() as thing, None if verb == "use":
                    text = self._use(thing)
                case Thing() as thing, Thing() as knife if verb == "slice":
                    text = self._slice(thing, knife)
                case Thing() as thing, layout.Receptacle() as place if (
                    self._place == place.place
                ):
                    text = self._handle(verb, thing, place)
        return Observation(text, success=self._won())

    def close(self) -> None: ...

    def _name(self, part: Thing | layout.Receptacle) -> str:
        return self._house.names[part.id]

    def _stand(self, verb: str, place: layout.Receptacle) -> str:
        name, here = self._name(place), self._place == place.place
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

    def _is_closed(self, place: layout.Receptacle) -> bool:
        return place.opens and place not in self._opened

    def _look_at(self, place: layout.Receptacle) -> str:
        name = self._name(place)
        if self._is_closed(place):
            return f"The {name} is closed."
        before = f"The {name} is open. In it," if place.opens else f"On the {name},"
        inside = (thing for thing, places in self._inside.items() if place in places)
        return f"{before} you see {self._listed(inside)}."

    def _listed(self, parts: Iterable[Thing | layout.Receptacle]) -> str:
        ordered = sorted(parts, key=lambda part: layout.pddl_name(part.id).lower())
        names = [f"a {self._name(part)}" for part in ordered]
        *others, last = names or ["nothing"]
        return f"{', '.join(others)}, and {last}" if others else last

    def _is_here(self, thing: Thing) -> bool:
        return any(place.place == self._place for place in self._inside[thing])

    def _use(self, thing: Thing) -> str:
        if thing.kind != layout.LAMP or not self._is_here(thing):
            return NOTHING
        self._done["use"].add(thing)
        return f"You turn on the {self._name(thing)}."

    def _slice(self, thing: Thing, knife: Thing) -> str:
        able = (
            thing.kind in layout.catalogue().able["sliceable"]
            and knife.kind in layout.KNIVES
        )
        if not (able and knife == self._held and self._is_here(thing)):
            return NOTHING
        self._done["slice"].add(thing)
        return f"You sliced the {self._name(thing)} with the {self._name(knife)}."

    def _handle(self, verb: str, thing: Thing, place: layout.Receptacle) -> str:
        """Carries out a command with a thing and the receptacle at the player's
        place.
        """
        a, b = self._name(thing), self._name(place)
        classes = layout.catalogue()
        if verb == "take":
            able = place in self._inside[thing] and thing.kind not in layout.UNTOUCHED
            if self._held or not able or self._is_closed(place):
                return NOTHING
            self._held = thing
            self._inside[thing].remove(place)
            return f"You pick up the {a} from the {b}."
        if self._held != thing:
            return NOTHING
        if verb == "move":
            if self._is_closed(place) or thing.kind not in classes.holds[place.kind]:
                return NOTHING
            self._held = None
            self._inside[thing].add(place)
            return f"You move the {a} to the {b}."
        if (
            place.kind != _TOOLS.get(verb)
            or thing.kind not in classes.able[f"{verb}able"]
        ):
            return NOTHING
        self._done[verb].add(thing)
        self._done[_UNDONE.get(verb, "")].discard(thing)
        return f"You {verb} the {a} using the {b}."

    def _won(self) -> bool:
        task = self._task
        if not task.target:
            lit = any(self._is_here(lamp) for lamp in self._done["use"])
            return lit and self._held is not None and self._held.kind == task.kind
        verbs = [*filter(None, [task.treatment[0]]), *["slice"] * task.sliced]
        fitting = [
            place
            for thing, places in self._inside.items()
            for place in places
            if thing.kind == task.kind
            and place.kind == task.target
            and all(thing in self._done[verb] for verb in verbs)
        ]
        return any(fitting.count(place) >= task.amount for place in fitting)
