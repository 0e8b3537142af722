"""ALFWorld: text games of household tasks in a room of receptacles (Shridhar et al.
2021).

Games come from games/ or data.py, process.py plays them, and task.py reads their task
sentences.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError, EnvironmentFault
from pddlego_local.core.nouns import (
    Budget,
    Goal,
    Names,
    Observation,
    TrueState,
    Turns,
)
from pddlego_local.environments.alfworld.data import find_games, find_split, read_game
from pddlego_local.environments.alfworld.games import PLAIN_TYPES, TASK_TYPES, make_game
from pddlego_local.environments.alfworld.installation import (
    find_environment,
    installed_versions,
)
from pddlego_local.environments.alfworld.process import (
    AlfworldGame,
    GameProcess,
    Limits,
)
from pddlego_local.environments.alfworld.room_map import MIDDLE, mentioned, pddl_name
from pddlego_local.environments.alfworld.task import goals
from pddlego_local.environments.alfworld.true_state import READ, true_state
from pddlego_local.environments.maps import map_hash
from pddlego_local.environments.tables import Tables

TABLES = Tables.load(__package__)
BANNER = "-= Welcome to TextWorld, ALFRED! =-"


def _named(data: object) -> object:
    if data == "":
        raise ConfigError(
            "environment.data: no data set is named; set ALFWORLD_DATA or"
            " environment.data to the folder that `alfworld-download` filled;"
            " environment=alfworld needs no data set"
        )
    return data


def _known(task_type: str) -> str:
    if task_type not in TASK_TYPES:
        raise ConfigError(
            f"environment.task_types: there is no type {task_type!r}; there are: "
            + ", ".join(TASK_TYPES)
        )
    return task_type


TaskType = Annotated[str, AfterValidator(_known)]


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class Alfworld:
    """ALFWorld with generated games (`data` is None) or with the games of a data set.

    A generated game is determined by (task_types, split, seed). Its type is
    `task_types[seed modulo their number]`, and its floor plan is one of the split's (""
    allows all). In a data set, a seed is the game's position in the sorted list of the
    split's games of these types. `data` is the folder that `alfworld-download` fills;
    it is only read.
    """

    data: Annotated[Path | None, BeforeValidator(_named)] = None
    split: str = ""
    task_types: Annotated[tuple[TaskType, ...], Field(min_length=1)] = PLAIN_TYPES
    limits: Limits = Limits()
    shows_commands: bool = False
    budget: Budget = Budget(unit="actions", limit=50)

    name = "alfworld"
    package = __package__
    actions = TABLES.schemas
    domain = TABLES.domain

    def __post_init__(self) -> None:
        """Raises ConfigError if the data set has no such folder."""
        self._folder = find_split(self.data, self.split) if self.data else None
        self._trials: tuple[Path, ...] = ()
        self._process = GameProcess(self.limits)
        self._game: AlfworldGame | None = None
        self._places: frozenset[str] = frozenset()
        self._won = False

    @property
    def task_type(self) -> str:
        return self._game.task_type if self._game else ""

    @property
    def map(self) -> str:
        """Returns a hash of ALFRED's floor plan, which is the room whose receptacles a
        game has. The objects in them are drawn for each game. In a generated game, the
        selection of receptacles is drawn too.
        """
        plan = self._game.floor_plan if self._game else ""
        return map_hash(self.name, plan) if plan else ""

    def versions(self) -> dict[str, str]:
        return installed_versions()

    def preflight(self) -> None:
        find_environment()

    def reset(self, seed: int) -> Observation:
        """Starts the game of this seed, which takes up to a second. Raises
        UnsolvableGame, or ConfigError if the data set has no game of that number.
        """
        self._game = None
        self._game = self._find(seed)
        reply = self._process.begin(self._game)
        text = reply.text.removeprefix(BANNER).strip()
        self._places = frozenset(re.findall(r"\ba (\w+ \d+)", text))
        return self._observe(reply, text, feedback="")

    def step(self, command: str) -> Observation:
        reply = self._process.step(command)
        return self._observe(reply, reply.text, self._feedback(command, reply.text))

    def goals(self, memory: Turns) -> tuple[Goal, ...]:
        return goals(memory)

    def names(self, memory: Turns) -> Names:
        """Returns all numbered things, and the middle of the room, which prompts name
        too.
        """
        things = mentioned(memory)
        return Names((MIDDLE, *map(pddl_name, things)), things)

    def command(self, action: str) -> str | None:
        return command(action)

    def true_state(self) -> TrueState:
        return true_state(self._process.facts(READ), TABLES.roles)

    def won(self) -> bool:
        return self._won

    def close(self) -> None:
        self._process.close()

    def _find(self, seed: int) -> AlfworldGame:
        if self._folder is None:
            task_type = self.task_types[seed % len(self.task_types)]
            return make_game(seed, task_type, self.split)
        if not self._trials:
            self._trials = find_games(self._folder, self.task_types)
        count = len(self._trials)
        if seed >= count:
            raise ConfigError(
                f"games: there is no game {seed}; {self._folder} has {count} games of"
                f" these types, 0 to {count - 1}"
            )
        return read_game(self._trials[seed])

    def _feedback(self, command: str, text: str) -> str:
        """Returns no feedback for "go to" a receptacle of the room. The command does
        nothing if the player is already there, but that is no refusal, and the plan
        continues. Receptacles may share a spot, so a method cannot know where it
        already is.
        """
        if command in {f"go to {place}" for place in self._places}:
            return ""
        return TABLES.feedback_for(command, text)

    def _observe(self, reply: Observation, text: str, feedback: str) -> Observation:
        """Reports success by the game's own verdict (PDDLego+ §4)."""
        if not text:
            raise EnvironmentFault("ALFWorld answered with no text")
        self._won = reply.success
        commands = sorted(command for command in reply.commands if command != "help")
        return replace(reply, text=text, feedback=feedback, commands=tuple(commands))


def command(planned: str) -> str | None:
    """Returns the game's command for a planned "(OpenObject fridge1)", or None if there
    is none.
    """
    return TABLES.command(planned, spelled)


def spelled(name: str) -> str:
    """Returns the game's name for a PDDL name: "fridge1", "fridge_1" and "fridge-1" are
    "fridge 1".
    """
    match = re.fullmatch(r"([a-z]+)[_-]?(\d+)", name)
    if match is None:
        return name
    return f"{match[1]} {match[2]}"
