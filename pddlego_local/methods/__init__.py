"""The systems of the papers, one file each."""

import dataclasses
from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, dataclass_transform

import pydantic

from pddlego_local.decoding.forms import Fields, Form
from pddlego_local.episode.episode import Episode

FROM_ALL_GAMES = "from all games"
AtLeast0 = Annotated[int, pydantic.Field(ge=0)]
AtLeast1 = Annotated[int, pydantic.Field(ge=1)]
T = TypeVar("T")


def added(default: Any) -> Any:
    """A setting that was added after episodes of its method had been recorded. With its
    default, a cell has the name that it had before.
    """
    return dataclasses.field(default=default, metadata={"later": True})


@dataclass_transform(kw_only_default=True, frozen_default=True)
def settings(cls: type[T]) -> type[T]:
    """Makes a class a dataclass whose values come from the configuration.

    Unknown keys and values of other types are refused. Several methods have the
    following settings: `max_retries` is how often an unusable answer is sampled again,
    `rounds` is how often a model is shown its refused files, or files without a plan,
    with the message of `decoding.feedback`, and answers again, and `max_idle` sub-goals
    in a row that end without a command end the episode.
    """
    closed = pydantic.ConfigDict(extra="forbid")
    made: type[Any] = pydantic.dataclasses.dataclass(
        cls, config=closed, kw_only=True, frozen=True
    )
    return made


class Method(Protocol):
    """A method plays an episode: a callable that reads like its paper, and a class of
    `settings`.

    `prompts` is its folder of templates, or "" if it asks no model. `forms` are the
    answer formats that it asks for. `learns` says that a trial uses the trials before
    it; then all games of one trial are played before the next trial begins. It is
    FROM_ALL_GAMES if a trial also uses the trials of other games, so that a report says
    that the games are not independent.
    """

    @property
    def prompts(self) -> str: ...
    @property
    def forms(self) -> tuple[Form[Fields], ...]: ...
    @property
    def learns(self) -> bool | str: ...

    def __call__(self, episode: Episode) -> str:
        """Plays the episode to its end and returns the outcome's name."""


class Player(ABC):
    """A method that plays each game separately and asks nothing if the game is won at
    its start.

    A subclass implements `play`, which begins after the first observation.
    `one_problem` says that an episode ends with one problem file, which is compared
    with the gold file.
    """

    learns: ClassVar[bool | str] = False
    one_problem: ClassVar[bool] = False

    @abstractmethod
    def play(self, episode: Episode) -> str:
        """Plays a game that was just started; returns the outcome's name."""

    def __call__(self, episode: Episode) -> str:
        return "success_at_start" if episode.start().success else self.play(episode)
