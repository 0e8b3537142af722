"""A game in progress: its episode runs in a thread, which passes each question to the
caller.

The thread knows nothing of the `Game` that began it, so a `Game` without users can be
collected while its episode waits for a text that nobody will send.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Completion, Message, Messages, Sampling
from pddlego_local.core.protocols import Environment, Planner
from pddlego_local.core.record.events import ActionTaken, Event, Start
from pddlego_local.decoding.question import AnyQuestion, Drawn, WholeAnswerModel
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, Parts

NAME = "pddlego game"
MOST_WAIT_S = 2.0  # for a closed game's thread, which usually ends within milliseconds
CLOSED = "the game was closed while this call was in progress: call reset first"


@dataclass(frozen=True)
class Over:
    """The episode has ended with this outcome."""

    outcome: str


class _Left(BaseException):
    """Raised in the episode's thread when the caller leaves the game before its end."""


class Caller(WholeAnswerModel):
    """Stands in for the episode's model and passes its questions to the caller.

    `shown` takes what the caller of the game waits for, and `given` the text of the
    caller, or None if the caller leaves the game. `whole` is False for an answer that
    counts as cut.
    """

    def __init__(self) -> None:
        self.shown: SimpleQueue[Messages | Over | BaseException] = SimpleQueue()
        self.given: SimpleQueue[str | None] = SimpleQueue()
        self.question: AnyQuestion | None = None
        self.whole = True

    def identity(self) -> dict[str, str]:
        return {"backend": "caller", "note": "whoever plays the game from outside"}

    def ask(self, messages: Messages) -> str:
        self.shown.put(messages)
        text = self.given.get()
        if text is None:
            raise _Left
        return text

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        self.question = question
        text = self.ask(question.messages)
        return Drawn(Completion(text, "stop" if self.whole else "length", 0, 0, 0.0))


@dataclass(frozen=True)
class Built:
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
        self.built = built
        self.outcome = "interrupted"
        self.caller = Caller()
        self.events: list[Event] = []
        parts = Parts(built.environment, self.caller, built.planner, decoding)
        self.episode = Episode(
            parts, self.events.append, run_seed=0, game=seed, trial=0
        )
        self._changing = threading.Lock()  # the two fields below
        self._ended = False
        self._abandoned = False
        self._thread = threading.Thread(
            target=self._run, args=(play,), name=NAME, daemon=True
        )
        self._thread.start()

    def _run(self, play: Callable[[Caller, Episode], str]) -> None:
        shown: Over | BaseException
        try:
            shown = Over(play(self.caller, self.episode))
        except UnsolvableGame:
            shown = Over("unsolvable_game")
        except BaseException as error:  # with _Left, nobody waits for it any more
            shown = error
        self.caller.shown.put(shown)
        with self._changing:
            self._ended = True
            abandoned = self._abandoned
        if abandoned:
            self.built.environment.close()

    def answer(self, text: str, *, whole: bool) -> None:
        """Gives the episode the text for which it waits."""
        self.caller.whole = whole
        self.outcome = "interrupted"  # until something is shown
        self.caller.given.put(text)

    def next_messages(self) -> Messages:
        """Waits for the episode. Returns the messages of its next question, or after
        its end the game's last observation. Raises what the episode raised.
        """
        shown = self.caller.shown.get()
        if isinstance(shown, BaseException):
            self.outcome = "failed"
            try:
                raise shown
            finally:
                del shown  # whose traceback refers to the game through this frame
        if isinstance(shown, Over):
            self.outcome = shown.outcome
            return (Message("user", _last_observation(self.events)),)
        self.outcome = ""
        return shown

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
        # Before the error of the planner, which is closed below.
        self.caller.shown.put(ConfigError(CLOSED))
        with self._changing:
            self._abandoned = True
            ended = self._ended
        self.built.planner.close()
        if ended:
            self.built.environment.close()

    def wait(self) -> None:
        """Waits until the episode's thread has ended, but not for long."""
        self._thread.join(MOST_WAIT_S)


class CurrentGame:
    """What a `Game` holds: its parts, and the game in progress. Thread-safe.

    The parts are built when they are needed. `closed` says why no game is in progress.
    """

    def __init__(self, build: Callable[[], Built], closed: str) -> None:
        self.playing: GameThread | None = None
        self.closed = closed
        self._build = build
        self._built: Built | None = None
        self._changing = threading.Lock()

    def built(self) -> Built:
        """Returns the parts; builds them if there are none."""
        with self._changing:
            if self._built is None:
                self._built = self._build()
            return self._built

    def begin(
        self, decoding: Decoding, seed: int, play: Callable[[Caller, Episode], str]
    ) -> GameThread:
        """Ends the game in progress, and starts another one, with the same parts if
        possible.
        """
        playing, before = self._taken()
        if playing is None or playing.leave():
            with self._changing:
                self._built = before
        built = self.built()
        with self._changing:
            if self._built is not built:  # `close` was called meanwhile
                raise ConfigError(CLOSED)
            self.playing = GameThread(built, decoding, seed, play)
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
        """Takes the game in progress and the parts away, so that no other call uses or
        closes them.
        """
        with self._changing:
            playing = self.playing
            built = self._built
            self.playing = None
            self._built = None
            return playing, built


def _last_observation(events: Sequence[Event]) -> str:
    for event in reversed(events):
        if isinstance(event, ActionTaken | Start):
            return event.observation
    return ""
