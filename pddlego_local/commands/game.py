"""`pddlego_local.Game`: one game that your own code plays, by commands or by PDDL answers.

    game = Game(environment="coin", environment__rooms=5, actions="pddl", method="pddl_edit")
    prompt, info = game.reset(7)
    prompt, reward, terminated, truncated, info = game.step('{"objects": …')

The signatures are gymnasium's. Each episode runs in a separate thread, with the same code as in a
run. Where that code would ask a model, it returns the question to the caller and waits for a text.
"""

import contextlib
import functools
import itertools
import operator
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple, SupportsIndex, TypedDict

import pydantic
from llguidance import LLTokenizer

from pddlego_local.commands.shared.options import overrides_of
from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Completion, Message, Sampling
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.protocols import Environment, Mapped, Numbered, Planner
from pddlego_local.core.record.events import ActionTaken, Call, Event, Plan, Start
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import AnyQuestion, Drawn, WholeAnswerModel
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.token_masks import Allowed, TokenMasks
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.rewards import REWARDS, reached
from pddlego_local.methods import Method
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.config import compose_cell

_REWARDS = pydantic.TypeAdapter(dict[str, pydantic.FiniteFloat])


class Info(TypedDict):
    """The `info` that `reset` and `step` return.

    `outcome` is how the game ended (core/outcomes.yaml), "" before the end. `commands` are the
    commands that the game offers now. `map` is a hash of the game's map, "" if the environment has
    no maps. `reached` names the rewards that the last step earned. `fault` says what was wrong with
    the last answer or command, "" if nothing was wrong. `messages` are the prompt that a model
    would get; the returned text joins their contents.
    """

    outcome: str
    commands: tuple[str, ...]
    map: str
    reached: tuple[str, ...]
    fault: str
    messages: tuple[Message, ...]


class _Over(NamedTuple):
    outcome: str


class _Left(BaseException):
    """Raised in the episode's thread when the caller leaves the game before its end."""


class _Caller(WholeAnswerModel):
    """Stands in for the episode's model and passes its questions to the caller."""

    question: AnyQuestion | None = None
    finished = True

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

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        self.question = question
        text = self.ask(question.messages)
        return Drawn(Completion(text, "stop" if self.finished else "length", 0, 0, 0.0))


class Game:
    """Plays one game at a time. Thread-safe: a call waits until the previous call has returned.

    `default_rewards` has the parts of a step's reward (`REWARDS`).
    """

    default_rewards: ClassVar[Mapping[str, float]] = REWARDS

    def __init__(
        self,
        *,
        actions: Literal["commands", "pddl"] = "commands",
        rewards: Mapping[str, float] = REWARDS,
        **options: object,
    ) -> None:
        """Builds the environment, the method and the planner; `reset` starts a game.

        `options` are those of `pddlego_local.run`, without a model. With `actions="commands"`, the
        caller sends game commands and gets observations. With `actions="pddl"`, the caller gets the
        prompts of the `method` and sends answers, which are read as free answers. If `decoding`
        names another rung, the caller writes each answer with `mask`; any other answer counts as
        truncated. `rewards` is used in place of `REWARDS`; a name that it omits earns 0.

        Raises ConfigError for an unknown option.
        """
        if "model" in options:
            raise ConfigError("model: the caller of a Game is its model; leave model out")
        if actions not in ("commands", "pddl"):
            raise ConfigError(f"actions={actions!r}: choose 'commands' or 'pddl'")
        with clear_errors("rewards"):
            rewards = _REWARDS.validate_python(rewards)
        if unknown := rewards.keys() - REWARDS.keys():
            raise ConfigError(
                f"rewards: {min(unknown)!r} is unknown; the names are {', '.join(REWARDS)}"
            )
        config = compose_cell(overrides_of({"decoding": "free", **options, "model": "reference"}))
        built = config.check()
        self._config, self._actions, self._rewards = config, actions, rewards
        self._environment: Environment = built["environment"]
        self._planner: Planner = built["planner"]
        self._method: Method = built["method"]
        self._decoding: Decoding = built["decoding"]
        if self._decoding.reject or self._decoding.best_of > 1:
            raise ConfigError("decoding.reject and decoding.best_of are for models; leave them out")
        self._lock, self._events = threading.Lock(), list[Event]()
        self._thread: threading.Thread | None = None
        self._caller, self._outcome = _Caller(), "not begun"
        self._masks: TokenMasks | None = None

    def reset(self, seed: SupportsIndex = 0) -> tuple[str, Info]:
        """Begins game number `seed`. Returns the first observation or prompt, and its `Info`.

        Raises TypeError if `seed` is no integer, ConfigError if the environment has no such game,
        and EnvironmentFault, PlannerFault or MissingPart, as an episode does.
        """
        seed = operator.index(seed)  # also an integer of NumPy, which Java does not take
        self._config.check_games(self._environment, (seed,))
        with self._lock:
            self._leave()
            self._caller, self._events = _Caller(), []
            self._thread = threading.Thread(target=self._play, args=(seed,), daemon=True)
            self._thread.start()
            text, _, info = self._next(())
            return text, info

    def step(self, text: str) -> tuple[str, float, bool, bool, Info]:
        """Sends a command or an answer to the game.

        Returns gymnasium's tuple: the next observation or prompt, the reward, `terminated` (the
        game has ended for another reason than its budget), `truncated` (the budget ended it), and
        the `Info`.

        Raises ConfigError if no game is in progress or `text` is no text, and the errors of
        `reset`.
        """
        if not isinstance(text, str):
            raise ConfigError(f"a step takes a text, not {text!r}")
        with self._lock:
            if self._outcome:
                raise ConfigError(f"no game is in progress ({self._outcome}): call reset first")
            since, masks, self._masks = len(self._events), self._masks, None
            free = self._decoding.rung == "free"
            self._caller.finished = free or bool(masks and masks.finished(text))
            self._caller.given.put(text)
            shown, reward, info = self._next(self._events, since)
            limit = bool(self._outcome) and outcome_named(self._outcome).limit
            truncated = limit == "environment.budget"
            return shown, reward, bool(self._outcome) and not truncated, truncated, info

    def mask(self, text: str, tokenizer: LLTokenizer) -> Allowed:
        """Returns the tokens that the rung in `decoding` allows after `text`, the answer so far.

        The caller samples one of them, with its own model, and calls again with the returned
        text and the sampled token after it: a rung may add forced text, and may roll back the end
        of what was sampled. The text "" begins an answer anew. When `tokens` is None, the returned
        text is the whole answer, for `step`. `llguidance.hf.from_tokenizer` makes the `tokenizer`
        from that of transformers.

        Raises ConfigError if no answer is asked for, under `decoding=free`, and for a text that the
        rung does not allow.
        """
        if not isinstance(text, str):
            raise ConfigError(f"mask: the answer so far is a text, not {text!r}")
        if not isinstance(tokenizer, LLTokenizer):
            raise ConfigError("mask: make the tokenizer with llguidance.hf.from_tokenizer")
        with self._lock:
            question, rung = self._caller.question, self._decoding.rung
            if self._outcome or rung == "free" or question is None:
                needed = "actions='pddl', a decoding with a grammar such as 'grounded', and reset"
                raise ConfigError(f"mask: there is no answer to constrain; it needs {needed}")
            if not text or self._masks is None:
                layout, context = self._decoding.layout, question.context
                constraint = constraint_for(rung, question.form, context, layout)
                self._masks = TokenMasks(constraint, tokenizer)
            return self._masks.allowed(text)

    @property
    def train_seeds(self) -> Iterator[int]:
        """Yields the games to train on, in ascending order: those whose map hash does not end in 0.

        So no map is shared with `eval_seeds`. Raises ConfigError if the environment has no maps.
        """
        return self._seeds(ends_in_0=False)

    @property
    def eval_seeds(self) -> Iterator[int]:
        """Yields the games to evaluate on, about one in sixteen.

        Raises ConfigError if the environment has no maps.
        """
        return self._seeds(ends_in_0=True)

    def _seeds(self, *, ends_in_0: bool) -> Iterator[int]:
        """Resets the games in a second environment; skips trivial games and unknown maps."""
        environment: Environment = self._config.build("environment")
        if not isinstance(environment, Mapped):
            name = self._config.labels["environment"]
            raise ConfigError(f"environment={name} has no maps; choose the seeds yourself")
        seeds = environment.seeds if isinstance(environment, Numbered) else itertools.count()

        def found() -> Iterator[int]:
            with contextlib.closing(environment):
                for seed in seeds:
                    first, map_ = environment.reset(seed), environment.map
                    if map_ and not first.success and map_.endswith("0") == ends_in_0:
                        yield seed

        return found()

    def close(self) -> None:
        """Ends the game and stops its processes."""
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
        """Runs the episode, in its thread."""
        caller = self._caller
        parts = Parts(self._environment, caller, self._planner, self._decoding)
        self._episode = Episode(parts, self._events.append, run_seed=0, game=seed, trial=0)
        try:
            by_commands = self._actions == "commands"
            play = functools.partial(_by_commands, caller) if by_commands else self._method
            caller.shown.put(_Over(play(self._episode)))
        except UnsolvableGame:
            caller.shown.put(_Over("unsolvable_game"))
        except BaseException as error:  # with _Left, nobody waits for it any more
            caller.shown.put(error)

    def _next(self, events: Sequence[Event], since: int = 0) -> tuple[str, float, Info]:
        """Returns the next text, the reward of `events` from index `since` on, and the `Info`."""
        self._outcome = "interrupted"  # unless something is shown
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
        return text, sum((self._rewards.get(name, 0.0) for name in earned), 0.0), info


def _by_commands(caller: _Caller, episode: Episode) -> str:
    """Plays as a method in which the caller chooses each command."""
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
    """Returns the game's last observation."""
    return next((e.observation for e in reversed(events) if isinstance(e, ActionTaken | Start)), "")


def _fault(events: Sequence[Event]) -> str:
    for event in events:
        if isinstance(event, Call) and event.fault:
            return event.fault
        if isinstance(event, Plan) and not event.plan:
            return event.told
        if isinstance(event, ActionTaken) and event.refused:
            return event.feedback
    return ""
