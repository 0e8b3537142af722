"""`pddlego_local.Game`: one game that your own code plays, by commands or by PDDL
answers.

    game = Game(environment="coin", actions="pddl", method="pddl_edit")
    prompt, info = game.reset(7)
    prompt, reward, terminated, truncated, info = game.step('{"objects": …')

The signatures are gymnasium's. Each episode runs in a separate thread, with the same
code as in a run. Where that code would ask a model, it returns the question to the
caller and waits for a text.
"""

import contextlib
import itertools
import operator
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, SupportsIndex, TypedDict

import pydantic
from llguidance import LLTokenizer

from pddlego_local.api.game_thread import Built, Caller, CurrentGame, GameThread
from pddlego_local.api.options import overrides_of
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Message, Messages
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.protocols import Mapped, Numbered
from pddlego_local.core.record.events import ActionTaken, Call, Event, Plan
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import AnyQuestion
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.token_masks import Allowed, TokenMasks
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.rewards import REWARDS, reached
from pddlego_local.methods import Method
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.config import compose_cell

_REWARDS = pydantic.TypeAdapter(dict[str, pydantic.FiniteFloat])


class Info(TypedDict):
    """The `info` that `reset` and `step` return.

    `outcome` is how the game ended (core/outcomes.yaml), "" before the end. `commands`
    are the commands that the game offers now. `map` is a hash of the game's map, "" if
    the environment has no maps. `reached` names the rewards that the last step earned.
    `fault` says what was wrong with the last answer or command, "" if nothing was
    wrong. `messages` are the prompt that a model would get; the returned text joins
    their contents.
    """

    outcome: str
    commands: tuple[str, ...]
    map: str
    reached: tuple[str, ...]
    fault: str
    messages: tuple[Message, ...]


_NO_OPTIONS = {
    "model": "model: the caller of a Game is its model; leave model out",
    "games": "games is no argument of Game: reset chooses the game; leave games out",
    "trials": (
        "trials is no argument of Game: call reset for each trial; leave trials out"
    ),
}
_open_games: weakref.WeakSet["Game"] = weakref.WeakSet()
_left_to_parent: list[CurrentGame] = []
"""In a forked process: what belongs to its parent, and must not be closed here."""


class Game:
    """Plays one game at a time. Thread-safe: a call waits until the previous call has
    returned.

    `default_rewards` has the parts of a step's reward (`REWARDS`).
    """

    default_rewards: ClassVar[Mapping[str, float]] = REWARDS

    def __init__(
        self,
        *,
        actions: Literal["commands", "pddl"] = "commands",
        rewards: Mapping[str, float] = REWARDS,
        config_dir: str | Path | None = None,
        **options: object,
    ) -> None:
        """Builds the environment, the method and the planner; `reset` starts a game.

        `options` are those of `pddlego_local.run`, without `model`, `games` and
        `trials`. `config_dir` is a folder with configurations of your own. With
        `actions="commands"`, the caller sends game commands and gets observations. With
        `actions="pddl"`, the caller gets the prompts of the `method` and sends answers,
        which are read as free answers. If `decoding` names another rung, the caller
        writes each answer with `mask`; any other answer counts as truncated. `rewards`
        is used in place of `REWARDS`; a name that it omits earns 0.

        Raises ConfigError for an unknown option.
        """
        for name in options.keys() & _NO_OPTIONS.keys():
            raise ConfigError(_NO_OPTIONS[name])
        if actions not in ("commands", "pddl"):
            raise ConfigError(f"actions={actions!r}: choose 'commands' or 'pddl'")
        words = overrides_of({"decoding": "free", **options, "model": "reference"})
        self._config = compose_cell(words, config_dir)
        parts = self._config.check(games=())
        self._by_commands = actions == "commands"
        self._rewards = _checked_rewards(rewards)
        self._method: Method = parts["method"]
        self._decoding: Decoding = parts["decoding"]
        if self._decoding.reject or self._decoding.best_of > 1:
            raise ConfigError(
                "decoding.reject and decoding.best_of are for models; leave them out"
            )
        self._masks: TokenMasks | None = None
        self._begin_without_game("not begun")
        _open_games.add(self)

    def _begin_without_game(self, why: str) -> None:
        config = self._config  # `build` must not refer to this object

        def build() -> Built:
            return Built(config.build("environment"), config.build("planner"))

        self._current = CurrentGame(build, why)
        self._one_call = threading.Lock()
        # When nobody refers to this object any more, nothing of its game is left.
        self._collected = weakref.finalize(self, self._current.close, wait=False)

    def _leave_to_parent(self) -> None:
        """After a fork: leaves the game and its processes to the parent."""
        self._collected.detach()
        _left_to_parent.append(self._current)
        self._begin_without_game(
            "it belongs to the process from which this one was forked"
        )

    def reset(self, seed: SupportsIndex = 0) -> tuple[str, Info]:
        """Begins game number `seed`. Returns the first observation or prompt, and its
        `Info`.

        A game that is in progress is given up, also while it is planning for an
        interrupted `step`.

        Raises TypeError if `seed` is no integer, ConfigError if the environment has no
        such game, and EnvironmentFault, PlannerFault or MissingPart, as an episode
        does.
        """
        seed = operator.index(seed)  # also an integer of NumPy, which Java refuses
        with self._one_call:
            self._config.check_games(self._current.built().environment, (seed,))
            self._masks = None
            game = self._current.begin(self._decoding, seed, self._play())
            messages = game.next_messages()
            return _text(messages), self._info(game, messages, ())

    def _play(self) -> Callable[[Caller, Episode], str]:
        if self._by_commands:
            return _play_by_commands
        method = self._method
        return lambda caller, episode: method(episode)  # which asks the caller

    def step(self, text: str) -> tuple[str, float, bool, bool, Info]:
        """Sends a command or an answer to the game.

        Returns gymnasium's tuple: the next observation or prompt, the reward,
        `terminated` (the game has ended for another reason than its budget),
        `truncated` (the budget ended it), and the `Info`.

        Raises ConfigError if no game is in progress, if `close` is called meanwhile, or
        if `text` is no text, and the errors of `reset`.
        """
        if not isinstance(text, str):
            raise ConfigError(f"a step takes a text, not {text!r}")
        with self._one_call:
            game = self._current.playing
            if game is None or game.outcome:
                why = game.outcome if game else self._current.closed
                raise ConfigError(f"no game is in progress ({why}): call reset first")
            events_before = len(game.events)
            whole = self._decoding.rung == "free" or (
                self._masks is not None and self._masks.finished(text)
            )
            self._masks = None
            game.answer(text, whole=whole)
            messages = game.next_messages()
            info = self._info(game, messages, game.events[events_before:])
            earned = [self._rewards.get(name, 0.0) for name in info["reached"]]
            over = bool(game.outcome)
            limit = outcome_named(game.outcome).limit if over else ""
            truncated = limit == "environment.budget"
            terminated = over and not truncated
            return _text(messages), sum(earned, 0.0), terminated, truncated, info

    def mask(self, text: str, tokenizer: LLTokenizer) -> Allowed:
        """Returns the tokens that the rung in `decoding` allows after `text`, the
        answer so far.

        The caller samples one of them, with its own model, and calls again with the
        returned text and the sampled token after it: a rung may add forced text, and
        may roll back the end of what was sampled. The text "" begins an answer anew.
        When `tokens` is None, the returned text is the whole answer, for `step`.
        `llguidance.hf.from_tokenizer` makes the `tokenizer` from that of transformers.

        Raises ConfigError if no answer is asked for, under `decoding=free`, and for a
        text that the rung does not allow.
        """
        if not isinstance(text, str):
            raise ConfigError(f"mask: the answer so far is a text, not {text!r}")
        if not isinstance(tokenizer, LLTokenizer):
            raise ConfigError(
                "mask: make the tokenizer with llguidance.hf.from_tokenizer"
            )
        with self._one_call:
            question = self._question()
            if not text or self._masks is None:
                form = question.form
                context = question.context
                constraint = constraint_for(self._decoding, form, context)
                self._masks = TokenMasks(constraint, tokenizer)
            return self._masks.allowed(text)

    def _question(self) -> AnyQuestion:
        """Returns the question that an answer under masks is for."""
        game = self._current.playing
        question = game.caller.question if game and not game.outcome else None
        if question is None or self._decoding.rung == "free":
            raise ConfigError(
                "mask: there is no answer to constrain; it needs actions='pddl', a"
                " decoding with a grammar such as 'grounded', and reset"
            )
        return question

    @property
    def train_seeds(self) -> Iterator[int]:
        """Yields the games to train on, in ascending order: those whose map hash does
        not end in 0.

        So no map is shared with `eval_seeds`. Raises ConfigError if the environment has
        no maps.
        """
        return self._seeds(ends_in_0=False)

    @property
    def eval_seeds(self) -> Iterator[int]:
        """Yields the games to evaluate on, about one in sixteen.

        Raises ConfigError if the environment has no maps.
        """
        return self._seeds(ends_in_0=True)

    def _seeds(self, *, ends_in_0: bool) -> Iterator[int]:
        # Another environment than that of the game in progress, which goes on.
        environment = self._config.build("environment")
        if not isinstance(environment, Mapped):
            name = self._config.labels["environment"]
            raise ConfigError(
                f"environment={name} has no maps; choose the seeds yourself"
            )
        return _seeds_with_maps(environment, ends_in_0)

    @property
    def seeds(self) -> range | None:
        """The numbers of the games; None if every number from 0 on is one."""
        environment = self._current.built().environment
        return environment.seeds if isinstance(environment, Numbered) else None

    def close(self) -> None:
        """Ends the game and stops its processes. A call in another thread, which may be
        planning, raises ConfigError at once. A `Game` that is collected is closed too.
        """
        self._current.close()

    def _info(
        self, game: GameThread, messages: Messages, events: Sequence[Event]
    ) -> Info:
        """Returns the `Info` after these events."""
        won = bool(game.outcome) and outcome_named(game.outcome).success
        environment = game.built.environment
        return Info(
            outcome=game.outcome,
            commands=game.episode.commands,
            map=environment.map if isinstance(environment, Mapped) else "",
            reached=reached(events, won=won, commands=self._by_commands),
            fault=_fault(events),
            messages=messages,
        )


def _checked_rewards(rewards: Mapping[str, float]) -> Mapping[str, float]:
    with clear_errors("rewards"):
        checked = _REWARDS.validate_python(rewards)
    if unknown := checked.keys() - REWARDS.keys():
        raise ConfigError(
            f"rewards: {min(unknown)!r} is unknown; the names are {', '.join(REWARDS)}"
        )
    return checked


def _leave_all_to_parent() -> None:
    for game in list(_open_games):
        game._leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)


def _play_by_commands(caller: Caller, episode: Episode) -> str:
    """Plays as a method in which the caller chooses each command."""
    if episode.start().success:
        return "success_at_start"
    shown = episode.memory[0].text
    for _ in episode.steps():
        execution = episode.act(caller.ask((Message("user", shown),)))
        if execution.ended:
            return execution.ended
        shown = execution.turns[-1].text
    return "step_limit"


def _seeds_with_maps(environment: Any, ends_in_0: bool) -> Iterator[int]:
    """Yields the games whose map hash ends in 0, or those whose map hash does not.
    Trivial games and games without a known map are neither.
    """
    seeds = (
        environment.seeds if isinstance(environment, Numbered) else itertools.count()
    )
    with contextlib.closing(environment):
        for seed in seeds:
            first = environment.reset(seed)
            if first.success or not environment.map:
                continue
            if environment.map.endswith("0") == ends_in_0:
                yield seed


def _text(messages: Messages) -> str:
    return "\n\n".join(message.content for message in messages)


def _fault(events: Sequence[Event]) -> str:
    """Returns what was wrong with the last answer or command."""
    for event in events:
        if isinstance(event, Call) and event.fault:
            return event.fault
        if isinstance(event, Plan) and not event.plan:
            return event.told
        if isinstance(event, ActionTaken) and event.refused:
            return event.feedback
    return ""
