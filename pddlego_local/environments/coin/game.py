"""CoinCollector: find the coin in a house of rooms and doors (TextWorldExpress)."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import Budget, Goal, Names, Observation, Turn
from pddlego_local.environments.maps import map_hash
from pddlego_local.environments.tables import Tables
from pddlego_local.environments.textworld_express.game import HouseEnvironment
from pddlego_local.environments.textworld_express.house_map import UNVISITED, names

TABLES = Tables.load(__package__)
GOALS = (Goal("take the coin", "(have-coin)"), UNVISITED)


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Coin(HouseEnvironment):
    """Games are a function of (rooms, doors, distractors, seed); `fold` changes nothing in coin.
    `furniture: false` leaves the list of furniture out of the observations, as the papers' prompts
    do (PDDLego+ appendix C.1); the directions and the coin always stay."""

    rooms: Annotated[int, Field(ge=3, le=11)] = 11
    furniture: bool = False
    budget: Budget = Budget(unit="actions", limit=50)

    name = "coin"
    package = __package__
    tables = TABLES
    actions = TABLES.schemas
    domain = TABLES.domain

    @property
    def task_type(self) -> str:
        return f"{self.rooms} rooms"

    @property
    def map(self) -> str:
        """Rooms by their names, ways, doors, where one starts, and where the coin lies.

        Names count: they are not drawn by themselves. As many rooms have the same names in every
        house, and which of them are side by side depends on them (the pantry is beside the kitchen
        alone). Directions count, since texts say them: a mirrored house is another.
        """
        if (house := self._game.house) is None:
            return ""
        coins = [thing.place for thing in house.things if thing.name == "coin"]
        return map_hash(self.name, house.start, house.ways, coins)

    def __post_init__(self) -> None:
        self._game = self._start("coin", numLocations=self.rooms)

    def reset(self, seed: int) -> Observation:
        return self._observe(self._game.reset(seed, self.fold), feedback="")

    def step(self, command: str) -> Observation:
        told = self._game.step(command)
        return self._observe(told, TABLES.feedback_for(command, told.text))

    def goals(self, memory: Sequence[Turn]) -> tuple[Goal, ...]:
        return GOALS

    def names(self, memory: Sequence[Turn]) -> Names:
        """All that was told; the goal leads to a place that is not visited yet."""
        return names(memory)

    def won(self) -> bool:
        """The game's own rule: the coin is taken. Plays "take coin"."""
        return self._game.step("take coin").success

    def _observe(self, told: Observation, feedback: str) -> Observation:
        """Success is the papers' rule: "coin" appears in an observation (PDDLego+ §4)."""
        success = re.search(r"\bcoin\b", told.text) is not None
        commands = tuple(c for c in told.commands if c.startswith(("open ", "close ", "move ")))
        text = told.text if self.furniture else without_furniture(told.text)
        return Observation(text.strip(), feedback, success, commands=commands)


def without_furniture(look: str) -> str:
    """The room, the coin and the directions, without what else stands in the room; other answers as
    they are. A look's first line tells the room and what stands in it, the second the directions.
    """
    if not look.startswith("You are in "):
        return look
    inside, _, directions = look.partition("\n")
    room, *things = re.split(r"(?<=\.) ", inside.strip())
    coin = [thing for thing in things if re.search(r"\bcoin\b", thing)]
    return " ".join([room, *coin, directions.strip()])
