"""The game: go from room to room, and light the lamp."""

import random
import re
from collections.abc import Sequence

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import Budget, Goal, Names, Observation, Turn
from pddlego_local.environments.tables import Tables

TABLES = Tables.load(__package__)
GOALS = (
    Goal("light the lamp", "(lit)"),
    Goal("be in a room not visited yet", "(exists (?r - room) (and (at ?r) (not (visited ?r))))"),
)


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Lamp:
    """The lamp stands in a room that depends on the seed; one begins in the middle."""

    rooms: int = 5
    budget: Budget = Budget(unit="actions", limit=20)

    name = "lamp"
    package = __package__
    shows_commands = True
    actions = TABLES.schemas
    domain = TABLES.domain
    task_type = "light"

    def __post_init__(self) -> None:
        self._here = self._lamp = 0
        self._lit = False

    def preflight(self) -> None:
        """Needs nothing."""

    def reset(self, seed: int) -> Observation:
        self._here, self._lit = (self.rooms + 1) // 2, False
        self._lamp = random.Random(seed).randint(1, self.rooms)
        return self._observe(self._look())

    def step(self, command: str) -> Observation:
        going = re.fullmatch(r"go to room (\d+)", command)
        if going and int(going[1]) in self._neighbours():
            self._here = int(going[1])
            return self._observe(self._look())
        if command == "light lamp" and self._here == self._lamp:
            self._lit = True
            return self._observe("The lamp burns.")
        return self._observe("You cannot do that.", TABLES.feedback_for(command, "You cannot"))

    def goals(self, memory: Sequence[Turn]) -> tuple[Goal, ...]:
        return GOALS

    def wanted(self, memory: Sequence[Turn]) -> tuple[str, ...]:
        return ()

    def names(self, memory: Sequence[Turn]) -> Names:
        rooms = tuple(dict.fromkeys(re.findall(r"room \d+", str(memory))))
        return Names(tuple(room.replace(" ", "_") for room in rooms), rooms)

    def command(self, action: str) -> str | None:
        return TABLES.command(action)

    def won(self) -> bool:
        return self._lit

    def close(self) -> None:
        """Holds nothing."""

    def _neighbours(self) -> list[int]:
        return [room for room in (self._here - 1, self._here + 1) if 1 <= room <= self.rooms]

    def _look(self) -> str:
        ways = " and to ".join(f"room {room}" for room in self._neighbours())
        lamp = " A lamp stands here." if self._here == self._lamp else ""
        return f"You are in room {self._here}. The corridor leads to {ways}.{lamp}"

    def _observe(self, text: str, feedback: str = "") -> Observation:
        commands = [f"go to room {room}" for room in self._neighbours()]
        commands += ["light lamp"] * (self._here == self._lamp)
        return Observation(text, feedback, self._lit, commands=tuple(commands))
