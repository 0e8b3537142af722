"""CookingWorld (TextWorldExpress): read a recipe, process its ingredients, eat the
meal.
"""

from dataclasses import replace
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.chart import Chart
from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Budget, Goal, Names, Observation, Turns
from pddlego_local.environments.cooking.text import CUT, KNIFE, Kitchen, mentioned
from pddlego_local.environments.maps import map_hash
from pddlego_local.environments.tables import Tables
from pddlego_local.environments.textworld_express.game import HouseEnvironment
from pddlego_local.environments.textworld_express.house_map import (
    UNVISITED,
    names,
    pddl_name,
)
from pddlego_local.environments.textworld_express.true_state import STATES
from pddlego_local.environments.writing import atoms, of_each

TABLES = Tables.load(__package__)
NOT_OFFERED = (
    "close ",
    "examine ",
    "inventory",
    "look around",
    "read cookbook",
    "take cookbook",
)


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Cooking(HouseEnvironment):
    """CookingWorld. A game is determined by (rooms, ingredients, distractors, doors,
    fold, seed).

    The house depends on the seed, and the recipe on the seed and the fold. An episode
    begins as in the paper (PDDLego, figure 7): the player reads the cookbook and then
    looks around. These two commands are part of `reset` and are not counted as actions.
    The paper's easy games have 2 rooms, 2 ingredients and 20 actions; its hard games
    have 5, 5 and 50 (appendix C).
    """

    rooms: Annotated[int, Field(ge=1, le=11)] = 2
    ingredients: Annotated[int, Field(ge=1, le=5)] = 2
    budget: Budget = Budget(unit="actions", limit=20)

    name = "cooking"
    package = __package__
    tables = TABLES
    told = frozenset(
        {
            ("at", 1), ("connected", 3), ("closed-door", 3), ("obj-at", 2),
            ("have", 1), *((state, 1) for state in STATES),
        }
    )  # fmt: skip
    actions = TABLES.schemas
    domain = TABLES.domain

    @property
    def task_type(self) -> str:
        return f"{self.rooms} rooms, {self.ingredients} ingredients"

    @property
    def map(self) -> str:
        """Returns a hash of the house as in Coin, of all things that can be carried
        with their places and states, and of the recipe. Names are part of the map
        because the goal is made of the ingredients' names.
        """
        if (house := self._game.house) is None:
            return ""
        return map_hash(self.name, house.start, house.ways, sorted(house.things))

    def __post_init__(self) -> None:
        self._won = False
        self._start(
            "cookingworld", numLocations=self.rooms, numIngredients=self.ingredients
        )

    def reset(self, seed: int) -> Observation:
        self._game.reset(seed, self.fold)
        recipe = self._game.step("examine cookbook").text.strip()
        if "Directions:" not in recipe:
            raise EnvironmentFault(
                f"game {seed} of cooking shows no cookbook: {recipe!r}"
            )
        room = self._game.step("look around")
        return self._observe(room, f"{recipe}\n{room.text}", feedback="")

    def step(self, command: str) -> Observation:
        reply = self._game.step(command)
        return self._observe(
            reply, reply.text, TABLES.feedback_for(command, reply.text)
        )

    def goals(self, memory: Turns) -> tuple[Goal, ...]:
        """Returns the sub-goals of PDDLego §3, with "hold each ingredient" only until
        each is held.
        """
        kitchen = Kitchen.read(memory)
        recipe = kitchen.recipe
        held = atoms(of_each("have", recipe.ingredients), pddl_name)
        processed = atoms(recipe.steps, pddl_name)
        all_facts = " ".join([*held, *processed, "(at kitchen)"])
        prepare = Goal(
            words="prepare the meal",
            pddl=f"(and {all_facts})",
            then=("prepare meal", "eat meal"),
        )
        if set(recipe.ingredients).issubset(kitchen.held):
            return prepare, UNVISITED
        all_held = " ".join(held)
        hold = Goal("hold each ingredient", f"(and {all_held})")
        return prepare, hold, UNVISITED

    def wanted(self, memory: Turns) -> tuple[str, ...]:
        """Returns what is not held yet: the ingredients, and the knife while something
        must still be cut.
        """
        kitchen = Kitchen.read(memory)
        undone = set(kitchen.recipe.steps) - kitchen.processed
        needed = list(kitchen.recipe.ingredients)
        if any(step.state in CUT for step in undone):
            needed.append(KNIFE)
        return tuple(name for name in needed if name not in kitchen.held)

    def chart(self, memory: Turns) -> Chart:
        """Returns the map of the kitchen's house, in which a closed container is a
        place that one opens.
        """
        kitchen = Kitchen.read(memory)
        ways = {
            (_spelled(way.start), _spelled(way.to)): 2 if way.closed else 1
            for way in kitchen.house.passages()
        }
        ways |= {(_spelled(closed.room), closed.name): 1 for closed in kitchen.closed}
        unvisited = set(kitchen.house.places()) - kitchen.house.exits.keys()
        lying = kitchen.items | dict(kitchen.appliances)
        return Chart(
            here=_spelled(kitchen.house.here),
            ways=ways,
            lying={thing: _spelled(room) for thing, room in lying.items()},
            carried=frozenset(kitchen.held),
            unexplored=frozenset(
                [*map(_spelled, unvisited), *(each.name for each in kitchen.closed)]
            ),
        )

    def names(self, memory: Turns) -> Names:
        """Returns all names in the texts, including the names in the recipe."""
        return names(memory, mentioned)

    def won(self) -> bool:
        """Returns whether the meal is eaten, which is both the game's and the paper's
        rule.
        """
        return self._won

    def _observe(self, reply: Observation, text: str, feedback: str) -> Observation:
        self._won = reply.success
        offered = [
            command for command in reply.commands if not command.startswith(NOT_OFFERED)
        ]
        return replace(
            reply, text=text.strip(), feedback=feedback, commands=tuple(offered)
        )


def _spelled(room: str) -> str:
    """Returns a room as the texts spell it."""
    return room.replace("_", " ")
