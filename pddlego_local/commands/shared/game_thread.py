"""A game in progress: its episode runs in a thread, which passes each question to the
caller.

The thread knows nothing of the `Game` that began it, so a `Game` without users can be
collected while its episode waits for a text that nobody will send.
"""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Completion, Message, Sampling
from pddlego_local.core.protocols import Environment, Planner
from pddlego_local.core.record.events import Event
from pddlego_local.decoding.question import AnyQuestion, Drawn, WholeAnswerModel
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, Parts

NAME = "pddlego game"
MOST_WAIT_S = 2.0  # for a closed game's thread, which usually ends within milliseconds
CLOSED = "the game was closed while this call was in progress: call reset first"


class Over(NamedTuple):
    """The episode has ended with this outcome."""

    outcome: str


class _Left(BaseException):
    """Raised in the episode's thread when the caller leaves the game before its end."""


class Caller(WholeAnswerModel):
    """Stands in for the episode's model and passes its questions to the caller."""

    question: AnyQuestion | None = None
    finished = True

    def __init__(self) -> None:
        self.shown = SimpleQueue[tuple[Message, ...] | Over | BaseException]()
        self.given = SimpleQueue[str | None]()

    def identity(self) -> dict[str, str]:
        return {"backend": "caller", "note": "whoever plays the game from outside"}

    def ask(self, messages: tuple[Message, ...]) -> str:
        self.shown.put(messages)
        if (text := self.given.get()) is None:
            raise _Left
        return text

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        self.question = question
        text = self.ask(question.messages)
        return Drawn(Completion(text, "stop" if self.finished else "length", 0, 0, 0.0))


class Built(NamedTuple):
    """The parts of a game that hold processes."""

    environment: Environment
    planner: Planner

    def close(self) -> None:
        try:
            self.planner.close()
        finally:
            self.environment.close()


class GameThread:
    """One game in progress. `outcome` is "" while the caller is asked for a text, and
    "interrupted" while nothing has been shown since the last one.
    """

    def __init__(
        self,
        built: Built,
        decoding: Decoding,
        seed: int,
        play: Callable[[Caller, Episode], str],
    ) -> None:
        """Starts the episode of game number `seed`, which `play` plays to its
        outcome.
        """
        self.built, self.outcome = built, "interrupted"
        self.caller, self.events = Caller(), list[Event]()
        parts = Parts(built.environment, self.caller, built.planner, decoding)
        self.episode = Episode(
            parts, self.events.append, run_seed=0, game=seed, trial=0
        )
        self._changing, self._ended, self._abandoned = threading.Lock(), False, False
        self._thread = threading.Thread(
            target=self._run, args=(play,), name=NAME, daemon=True
        )
        self._thread.start()

    def _run(self, play: Callable[[Caller, Episode], str]) -> None:
        try:
            self.caller.shown.put(Over(play(self.caller, self.episode)))
        except UnsolvableGame:
            self.caller.shown.put(Over("unsolvable_game"))
        except BaseException as error:  # with _Left, nobody waits for it any more
            self.caller.shown.put(error)
        with self._changing:
            self._ended = True
            abandoned = self._abandoned
        if abandoned:
            self.built.environment.close()

    def leave(self) -> bool:
        """Ends the episode and returns True if its parts can be used for another one.

        If the episode is planning or playing for a call that was interrupted, it is
        abandoned.
        """
        if self.outcome == "interrupted":
            self.abandon()
            return False
        self.caller.given.put(None)
        self._thread.join()
        return True

    def abandon(self) -> None:
        """Closes the planner at once, and the environment when the episode no longer
        uses it. Does not wait for that. A call that waits for the episode raises
        ConfigError.
        """
        self.caller.given.put(None)
        self.caller.shown.put(
            ConfigError(CLOSED)
        )  # before the planner's error is there
        with self._changing:
            self._abandoned = True
            ended = self._ended
        self.built.planner.close()
        if ended:
            self.built.environment.close()

    def wait(self) -> None:
        """Waits until the episode's thread has ended, but not for long."""
        self._thread.join(MOST_WAIT_S)


class Table:
    """What a `Game` holds: its parts, and the game in progress. Thread-safe.

    The parts are built when they are needed. `closed` says why no game is in progress.
    """

    def __init__(self, build: Callable[[], Built], closed: str = "not begun") -> None:
        self.playing: GameThread | None = None
        self.closed = closed
        self._build = build
        self._built: Built | None = None
        self._changing = threading.Lock()

    def built(self) -> Built:
        """Returns the parts; builds them if there are none."""
        with self._changing:
            self._built = self._built or self._build()
            return self._built

    def begin(self, start: Callable[[Built], GameThread]) -> GameThread:
        """Ends the game in progress, and starts another one, with the same parts if
        possible.
        """
        playing, before = self._taken()
        if playing is None or playing.leave():
            with self._changing:
                self._built = before
        built = self.built()
        with self._changing:
            if self._built is not built:
                raise ConfigError(CLOSED)
            self.playing = start(built)
            return self.playing

    def close(self, *, wait: bool = True) -> None:
        """Ends the game in progress, also within a call of another thread, and closes
        the parts.
        """
        playing, built = self._taken()
        self.closed = "closed"
        if playing:
            playing.abandon()
            if wait:
                playing.wait()
        elif built:
            built.close()

    def _taken(self) -> tuple[GameThread | None, Built | None]:
        """Takes the game in progress and the parts away from the table, so that no
        other call uses or closes them.
        """
        with self._changing:
            taken = self.playing, self._built
            self.playing = self._built = None
            return taken
