"""The interfaces of environments, language models and planners."""

from typing import Literal, Protocol, runtime_checkable

from pddlego_local.core.chart import Chart
from pddlego_local.core.nouns import (
    Action,
    Budget,
    Completion,
    DeadEnds,
    Goal,
    Grammar,
    Messages,
    Names,
    Observation,
    PlanResult,
    Prefix,
    Sampling,
    TrueState,
    Turns,
)


class Environment(Protocol):
    """Plays one game at a time. `reset` may be called any number of times. Not
    thread-safe.
    """

    budget: Budget
    shows_commands: bool
    """Whether the prompts of PDDLego+ and PlanGen list the valid commands."""

    @property
    def name(self) -> str: ...

    @property
    def package(self) -> str:
        """The environment's Python package, which holds its tables, domain, reference
        and prompts.
        """

    @property
    def actions(self) -> tuple[Action, ...]:
        """The allowed actions, which are described to a model that writes its own
        domain.
        """

    @property
    def domain(self) -> str:
        """The hand-written domain, for methods that are given one (PDDLego appendix
        B).
        """

    @property
    def task_type(self) -> str:
        """The type of the last reset game, as the difficulty groups name it (PDDLego+
        §5.4).
        """

    def preflight(self) -> None:
        """Raises MissingPart at once if the game cannot be played here. Starts
        nothing.
        """

    def reset(self, seed: int) -> Observation:
        """Starts game number `seed` and returns its first observation.

        Raises UnsolvableGame for a game that is known to have no solution.
        """

    def goals(self, memory: Turns) -> tuple[Goal, ...]:
        """Returns the end goal, then its fallbacks, as far as `memory` shows them
        (PDDLego §2).
        """

    def names(self, memory: Turns) -> Names:
        """Returns the names in `memory`, by the environment's rules for finding names
        in text.
        """

    def step(self, command: str) -> Observation: ...
    def command(self, action: str) -> str | None:
        """Returns the game's command for a planned "(move a b west)", or None if there
        is none.
        """

    def won(self) -> bool:
        """Returns whether the game is won by its own rule. May play a last command to
        find out.
        """

    def close(self) -> None: ...


@runtime_checkable
class Gathering(Protocol):
    """An environment in which PDDLego picks things up without planning where it finds
    them (§4).
    """

    def wanted(self, memory: Turns) -> tuple[str, ...]:
        """Returns the things that still have to be picked up, by the game's names."""


@runtime_checkable
class Charted(Protocol):
    """An environment whose texts show where things are (`horizon` of DEPS)."""

    def chart(self, memory: Turns) -> Chart:
        """Returns what the texts in `memory` show. It knows nothing else."""


@runtime_checkable
class Mapped(Protocol):
    """An environment that knows which games have the same map. Other environments lack
    `map`.
    """

    @property
    def map(self) -> str:
        """A short hash of the map of the last reset game, "" if the map is unknown.

        It depends on the game alone, not on what has been played. No method or model is
        shown it.
        """


@runtime_checkable
class Inspectable(Protocol):
    """An environment that knows what is true in its game."""

    def true_state(self) -> TrueState:
        """Returns what is true now. Only records get it, no method and no model."""


@runtime_checkable
class Versioned(Protocol):
    """An environment that is played by packages of its own, which a record names."""

    def versions(self) -> dict[str, str]:
        """Returns the versions of these packages, by package."""


@runtime_checkable
class MadeFromFiles(Protocol):
    """An environment whose games are made from files that a user may edit."""

    @property
    def files_sha256(self) -> dict[str, str]:
        """The hash of each file, by name, as the file was when it was read."""


@runtime_checkable
class WithDeadEnds(Protocol):
    """An environment in which an action may put the goal out of reach."""

    @property
    def dead_ends(self) -> DeadEnds:
        """What is known of it, for reports."""


@runtime_checkable
class DescribedInText(Protocol):
    """An environment that hides nothing: two texts describe its domain and problem
    completely.
    """

    @property
    def texts(self) -> tuple[str, str]:
        """The domain text and the problem text of the last reset world."""


@runtime_checkable
class WithExamples(Protocol):
    """An environment with other worlds of the same kind, whose PDDL a prompt can
    show.
    """

    def solved(self, count: int) -> tuple[tuple[str, str], ...]:
        """Returns the problem texts and the problem files of other worlds, `count` at
        most.
        """


@runtime_checkable
class WithGold(Protocol):
    """An environment that has the gold problem file."""

    def equivalence(self, problem: str) -> str:
        """Compares `problem` with the gold problem, up to the names of objects.

        Returns the verdict, such as "equivalent" or "different".
        """


@runtime_checkable
class Numbered(Protocol):
    """An environment that does not have a game for every seed from 0 on."""

    @property
    def seeds(self) -> range:
        """The seeds of the existing games."""


@runtime_checkable
class Trained(Protocol):
    """A model that may have been trained on an environment's games."""

    def trained_on(self) -> frozenset[str]:
        """Returns the hashes of the maps of those games (`Mapped.map`)."""


class LanguageModel(Protocol):
    """A model that writes an answer token by token. It sees only messages, not the
    episode.

    Thread-safe: many episodes share one model. The other kind of model returns whole
    answers and does no decoding (`decoding.question.WholeAnswerModel`).
    """

    @property
    def decodes(self) -> Literal[True]: ...

    def preflight(self, *, thinking: bool = False) -> None:
        """Raises MissingPart or ConfigError at once, before anything is loaded.

        `thinking` says whether requests will ask for a thought: some models do not
        support thinking, and others always think.
        """

    def identity(self) -> dict[str, str]:
        """Returns what a record needs to run the same model again: weights, revision,
        versions.
        """

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        """Returns one answer or, with `prefix`, its continuation.

        With `prefix`, the grammar describes the continuation alone. The prefix of an
        answer that begins with a thought has no `forced_prefix`. Raises ModelFault if
        the backend fails; nothing that the model writes raises an exception.
        """

    def complete_many(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
    ) -> tuple[Completion, ...]:
        """Returns `count` whole answers, from one request if the backend supports that.

        Raises the same errors as `complete`.
        """

    def close(self) -> None: ...


@runtime_checkable
class Thinks(Protocol):
    """A language model that knows the markers around its thoughts, if it has
    thoughts.
    """

    @property
    def thought_markers(self) -> tuple[str, str] | None: ...


class Planner(Protocol):
    """A planner. It is thread-safe and deterministic: the same input gives the same
    plan.
    """

    def plan(self, domain: str, problem: str) -> PlanResult:
        """Returns the verdict on the pair. Raises PlannerFault if the planner cannot be
        run.
        """

    @property
    def waiting(self) -> int:
        """How many calls of `plan` wait for others to finish."""

    def close(self) -> None: ...
