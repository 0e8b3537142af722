"""CookingWorld (TextWorldExpress): read a recipe, process its ingredients, eat the meal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Budget, Goal, Names, Observation, Turn
from pddlego_local.environments.cooking.text import CUTS, KNIFE, Kitchen, mentioned
from pddlego_local.environments.maps import map_hash
from pddlego_local.environments.tables import Tables
from pddlego_local.environments.textworld_express.game import HouseEnvironment
from pddlego_local.environments.textworld_express.house_map import UNVISITED, names, pddl_name

TABLES = Tables.load(__package__)
NOT_OFFERED = ("close ", "examine ", "inventory", "look around", "read cookbook", "take cookbook")


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Cooking(HouseEnvironment):
    """Games are a function of (rooms, ingredients, distractors, doors, fold, seed).

    The house depends on the seed, the recipe on seed and fold. An episode begins as the paper's
    (PDDLego, figure 7): the cookbook is read, then comes a look. These two commands are part of
    `reset` and do not count as actions. Easy in the paper: 2 rooms, 2 ingredients, 20 actions;
    hard: 5, 5 and 50 (appendix C).
    """

    rooms: Annotated[int, Field(ge=1, le=11)] = 2
    ingredients: Annotated[int, Field(ge=1, le=5)] = 2
    budget: Budget = Budget(unit="actions", limit=20)

    name = "cooking"
    package = __package__
    tables = TABLES
    actions = TABLES.schemas
    domain = TABLES.domain

    @property
    def task_type(self) -> str:
        return f"{self.rooms} rooms, {self.ingredients} ingredients"

    @property
    def map(self) -> str:
        """The house as in Coin, all that can be carried, where it lies and in which state, and the
        recipe: names of ingredients are what the goal is made of."""
        if (house := self._game.house) is None:
            return ""
        return map_hash(self.name, house.start, house.ways, sorted(house.things))

    def __post_init__(self) -> None:
        self._won = False
        self._game = self._start(
            "cookingworld", numLocations=self.rooms, numIngredients=self.ingredients
        )

    def reset(self, seed: int) -> Observation:
        self._game.reset(seed, self.fold)
        recipe = self._game.step("examine cookbook").text.strip()
        if "Directions:" not in recipe:
            raise EnvironmentFault(f"game {seed} of cooking shows no cookbook: {recipe!r}")
        look = self._game.step("look around")
        return self._observe(look, f"{recipe}\n{look.text}", feedback="")

    def step(self, command: str) -> Observation:
        told = self._game.step(command)
        return self._observe(told, told.text, TABLES.feedback_for(command, told.text))

    def goals(self, memory: Sequence[Turn]) -> tuple[Goal, ...]:
        """The sub-goals of PDDLego §3; "hold each ingredient" only until each is held."""
        kitchen = Kitchen.read(memory)
        recipe = kitchen.recipe
        have = [f"(have {pddl_name(name)})" for name in recipe.ingredients]
        done = [f"({state} {pddl_name(name)})" for state, name in recipe.steps]
        prepare = Goal(
            "prepare the meal",
            f"(and {' '.join([*have, *done])} (at kitchen))",
            then=("prepare meal", "eat meal"),
        )
        if set(recipe.ingredients) <= kitchen.held.keys():
            return prepare, UNVISITED
        return prepare, Goal("hold each ingredient", f"(and {' '.join(have)})"), UNVISITED

    def wanted(self, memory: Sequence[Turn]) -> tuple[str, ...]:
        """The ingredients that are not held, and the knife while something must still be cut."""
        kitchen = Kitchen.read(memory)
        undone = set(kitchen.recipe.steps) - kitchen.processed
        tools = [KNIFE] if any(state in CUTS.values() for state, _ in undone) else []
        needed = [*kitchen.recipe.ingredients, *tools]
        return tuple(name for name in needed if name not in kitchen.held)

    def names(self, memory: Sequence[Turn]) -> Names:
        """All that was told, recipe included."""
        return names(memory, mentioned)

    def won(self) -> bool:
        """The game's own rule: the meal is eaten. It is the paper's rule too."""
        return self._won

    def _observe(self, told: Observation, text: str, feedback: str) -> Observation:
        self._won = told.success
        commands = tuple(c for c in told.commands if not c.startswith(NOT_OFFERED))
        return replace(told, text=text.strip(), feedback=feedback, commands=commands)
