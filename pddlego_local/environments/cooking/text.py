"""Reads CookingWorld's texts: the recipe, what is carried, and what is known of the
house.

It reads only the memory of an episode, never the game's internals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from pddlego_local.core.nouns import Turn, Turns
from pddlego_local.environments.textworld_express import house_map
from pddlego_local.environments.textworld_express.house_map import HouseMap

KNIFE = "knife"
CUTS = {"slice": "sliced", "chop": "chopped", "dice": "diced"}
COOKS = {"fry": "fried", "roast": "roasted", "grill": "grilled"}
STATES = CUTS | COOKS
CUT = tuple(CUTS.values())
"""The states that a thing has after the knife."""
APPLIANCES = {
    "fried": ("stove",),
    "roasted": ("oven",),
    "grilled": ("toaster", "barbeque"),
}

_RECIPE = re.compile(r"Ingredients:(.*?)Directions:(.*?)prepare meal", re.DOTALL)
_COOKBOOK = re.compile(r"Gather all following .*?prepare meal", re.DOTALL)
_STEP = re.compile(rf"({'|'.join(STATES)}) the ([a-z ]+)")
_CARRIED = re.compile(r"You (take|put|eat) the ([a-z ]+?)(?: in the [a-z ]+)?\.")
_PROCESSED = re.compile(
    rf"You ({'|'.join(STATES)}) the ([a-z ]+?)(?: with the [a-z]+)?\."
)
_NAMES = "|".join(chain(*APPLIANCES.values()))
_APPLIANCE = re.compile(rf"\b({_NAMES})\.")
_CLOSED = re.compile(r"\ban? ([a-z ]+?) that is closed\.")
_OPENED = re.compile(r"You open the ([a-z ]+?)\. (?:It's empty|The )")
_CONTENTS = re.compile(
    r"(?:that contains|contains|that has) ((?!nothing)(?:a|an|some) [a-z, ]+?)(?: on"
    r" it)?\."
)
_ADJECTIVES = "|".join(["raw", *STATES.values()])
_THING = re.compile(rf"(?:an?|some) ((?:(?:{_ADJECTIVES}) )*)([a-z ]+)")


class Step(NamedTuple):
    """A state that a thing gets, such as ("chopped", "red onion")."""

    state: str
    thing: str


class Fixture(NamedTuple):
    """A container or an appliance, and the room where it stands."""

    name: str
    room: str


@dataclass(frozen=True)
class Recipe:
    """The recipe in the cookbook."""

    ingredients: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @classmethod
    def read(cls, memory: Turns) -> "Recipe":
        """Returns the recipe in the first turn that has one, or an empty recipe if no
        turn has one.
        """
        for turn in memory:
            if match := _RECIPE.search(turn.text):
                ingredients, directions = match.groups()
                lines = [line.strip() for line in ingredients.splitlines()]
                names = tuple(filter(None, lines))
                told = _STEP.findall(directions)
                steps = [Step(STATES[verb], name) for verb, name in told]
                return cls(names, tuple(steps))
        return cls()

    @property
    def cuts(self) -> bool:
        """Returns whether a knife is needed."""
        return any(step.state in CUT for step in self.steps)


def _listed(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the things that lie on or in something, each with its states: "red
    potato", ["fried"].
    """
    for contents in _CONTENTS.findall(text):
        for part in re.split(r",\s*(?:and )?", contents):
            if match := _THING.fullmatch(part.strip()):
                states, name = match.groups()
                yield name, states.split()


def mentioned(text: str) -> list[str]:
    """Returns the names in a text of the game, in order. A recipe that requires cutting
    also names the knife.
    """
    recipe = Recipe.read([Turn("", text)])
    names = [*recipe.ingredients]
    if recipe.cuts:
        names.append(KNIFE)
    without_recipe = _COOKBOOK.sub("", text)
    return names + house_map.mentioned(without_recipe)


@dataclass
class Kitchen:
    """Everything that a memory says about the game. `held` is in the order in which
    things were taken. `items[thing]` is the room where a thing lies within reach.
    `processed` are the states that the player brought about; `done` also has the states
    in which things were found.
    """

    recipe: Recipe
    house: HouseMap = field(default_factory=HouseMap)
    held: list[str] = field(default_factory=list)
    processed: set[Step] = field(default_factory=set)
    done: set[Step] = field(default_factory=set)
    items: dict[str, str] = field(default_factory=dict)
    closed: list[Fixture] = field(default_factory=list)
    opened: list[Fixture] = field(default_factory=list)
    appliances: list[Fixture] = field(default_factory=list)
    prepared: bool = False
    eaten: bool = False

    @classmethod
    def read(cls, memory: Turns) -> "Kitchen":
        kitchen = cls(Recipe.read(memory))
        for turn in memory:
            kitchen._read(turn)
        return kitchen

    def _read(self, turn: Turn) -> None:
        self.house.read(turn)
        text = turn.text.replace("An open", "an open")
        if "You are in the " in text:
            self._read_room(text)
        elif opened := _OPENED.match(text):
            container = Fixture(opened[1], self.house.here)
            if container in self.closed:
                self.closed.remove(container)
            _add(self.opened, container)
            self._see(text)
        elif processed := _PROCESSED.match(text):
            verb, thing = processed.groups()
            step = Step(STATES[verb], thing)
            self.processed.add(step)
            self.done.add(step)
        elif carried := _CARRIED.match(text):
            verb, thing = carried.groups()
            self._carry(verb, thing)
        if "Adding the meal" in text:
            self.prepared = True
        if text.startswith("You eat the meal."):
            self.eaten = True

    def _carry(self, verb: str, thing: str) -> None:
        self.items.pop(thing, None)
        if thing in self.held:
            self.held.remove(thing)
        if verb == "take":
            self.held.append(thing)
        elif verb == "put":
            self.items[thing] = self.house.here

    def _read_room(self, text: str) -> None:
        """Reads the full description of a room. A thing that it does not mention any
        more is gone.
        """
        here = self.house.here
        self.items = {name: room for name, room in self.items.items() if room != here}
        self._see(text)
        for name in _APPLIANCE.findall(text):
            _add(self.appliances, Fixture(name, here))
        for name in _CLOSED.findall(text):
            _add(self.closed, Fixture(name, here))

    def _see(self, text: str) -> None:
        for name, states in _listed(text):
            self.items[name] = self.house.here
            for state in states:
                if state != "raw":
                    self.done.add(Step(state, name))


def _add(fixtures: list[Fixture], seen: Fixture) -> None:
    if seen not in fixtures:
        fixtures.append(seen)
