"""`pddlego_local.Game`: one game that other code plays, command by command or answer by answer.

    game = Game(environment="coin", environment__rooms=5, actions="pddl", method="pddl_edit")
    prompt, info = game.reset(7)
    prompt, reward, terminated, truncated, info = game.step('{"objects": …')

The signatures are gymnasium's. An episode runs in a thread of its own, as in a run; where it would
ask a model it shows the question to the caller, and waits for the text.
"""

import contextlib
import functools
import itertools
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal, TypedDict

from pddlego_local.commands.shared.options import overrides_of
from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Completion, Message, Sampling
from pddlego_local.core.outcomes import ACCEPTED, outcome_named
from pddlego_local.core.protocols import Environment, Mapped, Numbered, Planner
from pddlego_local.core.record.events import ActionTaken, Call, Event, Plan, Start
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.question import Drawn, Question, WholeAnswerModel
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods import Method
from pddlego_local.runner.config import compose_cell

REWARDS: Mapping[str, float] = MappingProxyType(
    {"read": 0.1, "accepted": 0.1, "planned": 0.2, "carried_out": 0.2, "won": 0.4}
)
"""The parts of a step's reward, which are added up. `read`: files could be read from the answer.
`accepted`: the planner's translator takes them. `planned`: they have a plan. `carried_out`: the
game took each action of it. `won`: the game is won. A command earns this last part alone."""


class Info(TypedDict):
    """The `info` of each text. `outcome` is how the game ended (core/outcomes.yaml), "" while it
    goes on. `commands` are those that the game offers now. `map` is a hash of the game's map, ""
    if the environment knows none. `reached` are the rewards' names that the last step earned.
    `fault` says what was wrong with the last answer or command, "" if nothing was. `messages` are
    those that a model would be asked; the returned text is their contents."""

    outcome: str
    commands: tuple[str, ...]
    map: str
    reached: tuple[str, ...]
    fault: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class _Over:
    outcome: str


class _Left(BaseException):
    """The caller has left the game before its end."""


class _Caller(WholeAnswerModel):
    """The caller, in the place of an episode's model."""

    decodes: ClassVar[Literal[False]] = False

    def __init__(self) -> None:
        self.shown = queue.SimpleQueue[tuple[Message, ...] | _Over | BaseException]()
        self.given = queue.SimpleQueue[str | None]()

    def identity(self) -> dict[str, str]:
        return {"backend": "caller", "note": "whoever plays the game from outside"}

    def ask(self, messages: tuple[Message, ...]) -> str:
        self.shown.put(messages)
        if (text := self.given.get()) is None:
            raise _Left
        return text

    def answer(
        self, question: Question[Fields], sampling: Sampling, sample: int = 0, of: int = 1
    ) -> Drawn:
        return Drawn(Completion(self.ask(question.messages), "stop", 0, 0, 0.0))


class Game:
    """One game at a time. Thread-safe: a call waits for the one before."""

    def __init__(
        self,
        *,
        actions: Literal["commands", "pddl"] = "commands",
        rewards: Mapping[str, float] = REWARDS,
        **options: object,
    ) -> None:
        """`options` are those of `pddlego_local.run`, without a model. With `actions="commands"`
        the texts are the game's commands and observations. With "pddl" they are the prompts of the
        `method` and the answers to them, which are read as free ones.

        Raises ConfigError for an option that there is not.
        """
        if "model" in options:
            raise ConfigError("model: the caller of a Game is its model; leave model out")
        if actions not in ("commands", "pddl"):
            raise ConfigError(f"actions={actions!r}: choose 'commands' or 'pddl'")
        if unknown := rewards.keys() - REWARDS.keys():
            raise ConfigError(
                f"rewards: {min(unknown)!r} is unknown; there are {', '.join(REWARDS)}"
            )
        config = compose_cell(overrides_of({"decoding": "free", **options, "model": "reference"}))
        built = config.check()
        if built["decoding"].rung != "free":
            raise ConfigError("decoding: the answers in a Game are free; leave decoding out")
        self._config, self._actions, self._rewards = config, actions, rewards
        self._environment: Environment = built["environment"]
        self._planner: Planner = built["planner"]
        self._method: Method = built["method"]
        self._decoding = built["decoding"]
        self._lock, self._events = threading.Lock(), list[Event]()
        self._thread: threading.Thread | None = None
        self._caller, self._outcome = _Caller(), "not begun"

    def reset(self, seed: int = 0) -> tuple[str, Info]:
        """Begins the game of this number. Returns the first observation or prompt.

        Raises what an episode raises: EnvironmentFault, PlannerFault, MissingPart.
        """
        with self._lock:
            self._leave()
            self._caller, self._events = _Caller(), []
            self._thread = threading.Thread(target=self._play, args=(seed,), daemon=True)
            self._thread.start()
            text, _, info = self._next(())
            return text, info

    def step(self, text: str) -> tuple[str, float, bool, bool, Info]:
        """Gives a command or an answer. Returns what comes next, the reward, whether the game has
        ended, whether its budget has ended it, and the rest. Raises ConfigError for a game that is
        over, and as `reset`."""
        with self._lock:
            if self._outcome:
                raise ConfigError(f"this game is over ({self._outcome}); call reset")
            since = len(self._events)
            self._caller.given.put(text)
            shown, reward, info = self._next(self._events, since)
            limit = bool(self._outcome) and outcome_named(self._outcome).limit
            truncated = limit == "environment.budget"
            return shown, reward, bool(self._outcome) and not truncated, truncated, info

    @property
    def train_seeds(self) -> Iterator[int]:
        """The games to train on, upwards: those whose map's hash does not end in 0. So no map of
        theirs is one of `eval_seeds`. Raises ConfigError if the environment knows no maps."""
        return self._seeds(ends_in_0=False)

    @property
    def eval_seeds(self) -> Iterator[int]:
        """The games to evaluate on, about one in sixteen. Raises as `train_seeds`."""
        return self._seeds(ends_in_0=True)

    def _seeds(self, *, ends_in_0: bool) -> Iterator[int]:
        """Each game is reset in an environment of its own. Games of unknown maps are left out, and
        those that are won at their first look."""
        environment: Environment = self._config.build("environment")
        if not isinstance(environment, Mapped):
            name = self._config.labels["environment"]
            raise ConfigError(f"environment={name} knows no maps; choose the seeds yourself")
        seeds = environment.seeds if isinstance(environment, Numbered) else itertools.count()

        def found() -> Iterator[int]:
            with contextlib.closing(environment):
                for seed in seeds:
                    first, map_ = environment.reset(seed), environment.map
                    if map_ and not first.success and map_.endswith("0") == ends_in_0:
                        yield seed

        return found()

    def close(self) -> None:
        """Ends the game and its processes."""
        with self._lock:
            self._leave()
            self._outcome = "closed"
            self._environment.close()
            self._planner.close()

    def _leave(self) -> None:
        if self._thread and self._thread.is_alive():
            self._caller.given.put(None)
            self._thread.join()

    def _play(self, seed: int) -> None:
        """The episode, in its own thread."""
        caller = self._caller
        parts = Parts(self._environment, caller, self._planner, self._decoding)
        self._episode = Episode(parts, self._events.append, run_seed=0, game=seed, trial=0)
        try:
            by_commands = self._actions == "commands"
            play = functools.partial(_by_commands, caller) if by_commands else self._method
            caller.shown.put(_Over(play(self._episode)))
        except UnsolvableGame:
            caller.shown.put(_Over("unsolvable_game"))
        except _Left:
            pass
        except BaseException as error:
            caller.shown.put(error)

    def _next(self, events: Sequence[Event], since: int = 0) -> tuple[str, float, Info]:
        """The next text of the episode, the reward of the events since then, and the `info`."""
        shown = self._caller.shown.get()
        if isinstance(shown, BaseException):
            self._outcome = "failed"
            raise shown
        self._outcome = shown.outcome if isinstance(shown, _Over) else ""
        messages = (Message("user", _last_text(self._events)),) if self._outcome else shown
        assert not isinstance(messages, _Over)
        now = events[since:]
        won = bool(self._outcome) and outcome_named(self._outcome).success
        earned = reached(now, won=won, commands=self._actions == "commands")
        info = Info(
            outcome=self._outcome,
            commands=self._episode.commands,
            map=self._environment.map if isinstance(self._environment, Mapped) else "",
            reached=earned,
            fault=_fault(now),
            messages=messages,
        )
        text = "\n\n".join(message.content for message in messages)
        return text, sum(self._rewards.get(name, 0.0) for name in earned), info


def _by_commands(caller: _Caller, episode: Episode) -> str:
    """A method: the caller names each command."""
    if episode.start().success:
        return "success_at_start"
    shown = episode.memory[0].text
    for _ in episode.steps():
        done = episode.act(caller.ask((Message("user", shown),)))
        if done.ended:
            return done.ended
        shown = done.turns[-1].text
    return "step_limit"


def _last_text(events: Sequence[Event]) -> str:
    """The game's last observation."""
    said = (e.observation for e in reversed(events) if isinstance(e, ActionTaken | Start))
    return next(said, "")


def _fault(events: Sequence[Event]) -> str:
    for event in events:
        if isinstance(event, Call) and event.fault:
            return event.fault
        if isinstance(event, Plan) and not event.plan:
            return event.told
        if isinstance(event, ActionTaken) and event.refused:
            return event.feedback
    return ""


def reached(events: Sequence[Event], *, won: bool, commands: bool) -> tuple[str, ...]:
    """The names of REWARDS that these events earn."""
    plans = [event for event in events if isinstance(event, Plan)]
    taken = [event for event in events if isinstance(event, ActionTaken) and event.planned]
    so_far = {
        "read": any(isinstance(event, Call) and not event.fault for event in events),
        "accepted": any(plan.outcome in ACCEPTED for plan in plans),
        "planned": any(plan.plan for plan in plans),
        "carried_out": bool(taken) and not any(event.refused for event in taken),
        "won": won,
    }
    return tuple(name for name, so in so_far.items() if so and (name == "won" or not commands))
