"""CoinCollector: find the coin in a house of rooms and doors (TextWorldExpress)."""

import re
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import Budget, Goal, Names, Observation, Turns
from pddlego_local.environments.maps import map_hash
from pddlego_local.environments.tables import Tables
from pddlego_local.environments.textworld_express.game import HouseEnvironment
from pddlego_local.environments.textworld_express.house_map import UNVISITED, names

TABLES = Tables.load(__package__)
COIN = re.compile(r"\bcoin\b")
OFFERED = ("open ", "close ", "move ")
GOALS = (Goal("take the coin", "(have-coin)"), UNVISITED)


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Coin(HouseEnvironment):
    """CoinCollector. A game is determined by (rooms, doors, distractors, seed); `fold`
    changes nothing in Coin. `furniture: false` leaves the list of furniture out of the
    observations, as the papers' prompts do (PDDLego+ appendix C.1). The directions and
    the coin are always shown.
    """

    rooms: Annotated[int, Field(ge=3, le=11)] = 11
    furniture: bool = False
    budget: Budget = Budget(unit="actions", limit=50)

    name = "coin"
    package = __package__
    tables = TABLES
    told = frozenset({("at", 1), ("connected", 3), ("closed-door", 3), ("coin-at", 1)})
    actions = TABLES.schemas
    domain = TABLES.domain

    @property
    def task_type(self) -> str:
        return f"{self.rooms} rooms"

    @property
    def map(self) -> str:
        """Returns a hash of the named rooms, the ways, the doors, the start and the
        coin's place.

        Room names are part of the map because they are not drawn independently. Houses
        with the same number of rooms have the same names, and the names decide which
        rooms are adjacent (the pantry is adjacent to the kitchen alone). Directions are
        part of the map because texts contain them: a mirrored house is a different map.
        """
        if (house := self._game.house) is None:
            return ""
        coins = [thing.place for thing in house.things if thing.name == "coin"]
        return map_hash(self.name, house.start, house.ways, coins)

    def __post_init__(self) -> None:
        self._start("coin", numLocations=self.rooms)

    def reset(self, seed: int) -> Observation:
        return self._observe(self._game.reset(seed, self.fold), feedback="")

    def step(self, command: str) -> Observation:
        reply = self._game.step(command)
        return self._observe(reply, TABLES.feedback_for(command, reply.text))

    def goals(self, memory: Turns) -> tuple[Goal, ...]:
        return GOALS

    def names(self, memory: Turns) -> Names:
        """Returns all names in the texts, with the places that are not visited yet: the
        goal leads to one.
        """
        return names(memory)

    def won(self) -> bool:
        """Plays "take coin" and returns whether the game itself reports success: the
        coin is taken.
        """
        return self._game.step("take coin").success

    def _observe(self, reply: Observation, feedback: str) -> Observation:
        """Applies the papers' rule for success: "coin" appears in an observation
        (PDDLego+ §4).
        """
        text = reply.text if self.furniture else without_furniture(reply.text)
        offered = [command for command in reply.commands if command.startswith(OFFERED)]
        return Observation(
            text.strip(),
            feedback,
            success=COIN.search(reply.text) is not None,
            commands=tuple(offered),
        )


def without_furniture(text: str) -> str:
    """Returns the description of a room with only the room, the coin and the
    directions. Returns other texts unchanged. The first line of a description names the
    room and the things in it, and the second line gives the directions.
    """
    if not text.startswith("You are in "):
        return text
    inside, _, directions = text.partition("\n")
    room, *things = re.split(r"(?<=\.) ", inside.strip())
    coin = filter(COIN.search, things)
    return " ".join([room, *coin, directions.strip()])
