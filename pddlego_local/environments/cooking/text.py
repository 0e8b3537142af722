"""Reads CookingWorld's texts: the recipe, what is carried, and what is known of the
house.

It reads only the memory of an episode, never the game's internals.
"""

import re
from dataclasses import dataclass, field

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
_NAMES = "|".join(name for names in APPLIANCES.values() for name in names)
_APPLIANCE = re.compile(rf"\b({_NAMES})\.")
_CLOSED = re.compile(r"\ban? ([a-z ]+?) that is closed\.")
_OPENED = re.compile(r"You open the ([a-z ]+?)\. (?:It's empty|The )")
_CONTENTS = re.compile(
    r"(?:that contains|contains|that has) ((?!nothing)(?:a|an|some) [a-z, ]+?)(?: on"
    r" it)?\."
)
_ADJECTIVES = "|".join(["raw", *STATES.values()])
_THING = re.compile(rf"(?:an?|some) ((?:(?:{_ADJECTIVES}) )*)([a-z ]+)")


@dataclass(frozen=True)
class Recipe:
    """The recipe in the cookbook. `steps` are pairs (state, ingredient), such as
    ("chopped", "red onion").
    """

    ingredients: tuple[str, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, memory: Turns) -> "Recipe":
        """Returns the recipe in the first turn that has one, or an empty recipe if no
        turn has one.
        """
        for turn in memory:
            if match := _RECIPE.search(turn.text):
                lines = [line.strip() for line in match[1].splitlines()]
                steps = [(STATES[verb], name) for verb, name in _STEP.findall(match[2])]
                return cls(tuple(filter(None, lines)), tuple(steps))
        return cls()

    @property
    def cuts(self) -> bool:
        """Returns whether a knife is needed."""
        return any(state in CUT for state, _ in self.steps)


def listed(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Returns the things that lie on or in something as (name, states), such as ("red
    potato", ("fried",)).
    """
    things = []
    for contents in _CONTENTS.findall(text):
        for part in re.split(r",\s*(?:and )?", contents):
            if match := _THING.fullmatch(part.strip()):
                states, name = match.groups()
                things.append((name, tuple(states.split())))
    return things


def mentioned(text: str) -> list[str]:
    """Returns the names in a text of the game, in order. A recipe that requires cutting
    also names the knife.
    """
    recipe = Recipe.read([Turn("", text)])
    told = house_map.mentioned(_COOKBOOK.sub("", text))
    if recipe.cuts:
        return [*recipe.ingredients, KNIFE, *told]
    return [*recipe.ingredients, *told]


@dataclass
class Kitchen:
    """Everything that a memory says about the game. `held` is in the order in which
    things were taken. `items[thing]` is the room where a thing lies within reach.
    `closed` and `opened` are pairs (container, room), and `appliances` are pairs
    (appliance, room). `processed` are the (state, ingredient) pairs that the player
    brought about; `done` also has the states in which things were found.
    """

    house: HouseMap = field(default_factory=HouseMap)
    recipe: Recipe = Recipe()
    held: dict[str, None] = field(default_factory=dict)
    processed: set[tuple[str, str]] = field(default_factory=set)
    done: set[tuple[str, str]] = field(default_factory=set)
    items: dict[str, str] = field(default_factory=dict)
    closed: dict[tuple[str, str], None] = field(default_factory=dict)
    opened: dict[tuple[str, str], None] = field(default_factory=dict)
    appliances: dict[tuple[str, str], None] = field(default_factory=dict)
    prepared: bool = False
    eaten: bool = False

    @classmethod
    def read(cls, memory: Turns) -> "Kitchen":
        kitchen = cls(recipe=Recipe.read(memory))
        for turn in memory:
            kitchen._read(turn)
        return kitchen

    def _read(self, turn: Turn) -> None:
        self.house.read(turn)
        here = self.house.here
        text = turn.text.replace("An open", "an open")
        if "You are in the " in text:
            self._read_room(text, here)
        elif match := _OPENED.match(text):
            self.closed.pop((match[1], here), None)
            self.opened[match[1], here] = None
            self._see(text, here)
        elif match := _PROCESSED.match(text):
            verb, thing = match.groups()
            step = STATES[verb], thing
            self.processed.add(step)
            self.done.add(step)
        elif match := _CARRIED.match(text):
            verb, thing = match.groups()
            self.items.pop(thing, None)
            self.held.pop(thing, None)
            if verb == "take":
                self.held[thing] = None
            elif verb == "put":
                self.items[thing] = here
        self.prepared |= "Adding the meal" in text
        self.eaten |= text.startswith("You eat the meal.")

    def _read_room(self, text: str, here: str) -> None:
        """Reads the full description of a room. A thing that it does not mention any
        more is gone.
        """
        self.items = {name: room for name, room in self.items.items() if room != here}
        self._see(text, here)
        for name in _APPLIANCE.findall(text):
            self.appliances[name, here] = None
        for name in _CLOSED.findall(text):
            self.closed[name, here] = None

    def _see(self, text: str, here: str) -> None:
        for name, states in listed(text):
            self.items[name] = here
            self.done.update((state, name) for state in states if state != "raw")
