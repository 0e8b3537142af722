"""What an environment, a language model and a planner must be able to do."""

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from pddlego_local.core.nouns import (
    Action,
    Budget,
    Completion,
    Goal,
    Grammar,
    Messages,
    Names,
    Observation,
    PlanResult,
    Prefix,
    Sampling,
    Turn,
)


class Environment(Protocol):
    """One game at a time. `reset` may be called any number of times; not thread-safe."""

    name: str
    package: str
    """The folder of the environment as a package: tables, domain, reference, prompts."""
    budget: Budget
    shows_commands: bool
    """Whether PDDLego+'s and PlanGen's prompts list the valid commands."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """What a model that writes its own domain is told."""

    @property
    def domain(self) -> str:
        """The hand-written domain of the methods that are given one (PDDLego appendix B)."""

    @property
    def task_type(self) -> str:
        """The kind of the game last reset, as its difficulty groups name it (PDDLego+ §5.4)."""

    def preflight(self) -> None:
        """Raises MissingPart at once if the game cannot be played here; starts nothing."""

    def reset(self, seed: int) -> Observation:
        """Raises UnsolvableGame for a game that is known to have no solution."""

    def goals(self, memory: Sequence[Turn]) -> tuple[Goal, ...]:
        """The end goal, then its fallbacks, as far as the memory tells them (PDDLego §2)."""

    def names(self, memory: Sequence[Turn]) -> Names:
        """What the memory names, by the environment's own rules for turning text into names."""

    def step(self, command: str) -> Observation: ...
    def command(self, action: str) -> str | None:
        """The game's command for a planned "(move a b west)"; None if there is none."""

    def won(self) -> bool:
        """Whether the game's own rule agrees; may play a last command to find out."""

    def close(self) -> None: ...


@runtime_checkable
class Gathering(Protocol):
    """An environment in which PDDLego picks things up mechanically where they are found (§4)."""

    def wanted(self, memory: Sequence[Turn]) -> tuple[str, ...]:
        """The things that still have to be picked up, by the game's names."""


@runtime_checkable
class Mapped(Protocol):
    """An environment that knows which games have the same map; one that does not is none."""

    @property
    def map(self) -> str:
        """A short hash for the map of the game last reset, "" if that is unknown. It depends on the
        game alone, not on what has been played, and no method or model is told it."""


@runtime_checkable
class DescribedInText(Protocol):
    """An environment that hides nothing: a text of the domain and one of the problem tell all."""

    @property
    def texts(self) -> tuple[str, str]:
        """Those of the world last reset."""


@runtime_checkable
class WithGold(Protocol):
    """An environment that has the right problem file."""

    def equivalence(self, problem: str) -> str:
        """Whether a problem file is the right one but for the names of its objects, in a word."""


@runtime_checkable
class Numbered(Protocol):
    """An environment that does not have a game for every seed from 0 on."""

    @property
    def seeds(self) -> range:
        """The games that there are."""


@runtime_checkable
class Trained(Protocol):
    """A model that may have learned from an environment's games."""

    def trained_on(self) -> frozenset[str]:
        """The maps of those games, by their hashes (`Mapped.map`)."""


class LanguageModel(Protocol):
    """What writes an answer token by token. It sees messages, and nothing else of an episode.

    Thread-safe: many episodes share one model. The other kind of model gives whole answers and
    decodes nothing (`decoding.question.WholeAnswerModel`).
    """

    @property
    def decodes(self) -> Literal[True]: ...

    def preflight(self, *, thinking: bool = False) -> None:
        """Raises MissingPart or ConfigError at once, before anything is loaded.

        `thinking` is what requests will ask for: some models cannot, others cannot do without.
        """

    def identity(self) -> dict[str, str]:
        """What a record needs to run the same model again: weights, revision, versions."""

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        """One answer, or with `prefix` what continues it: the grammar is that of the rest alone.

        The prefix of an answer that begins with a thought has no head. Raises ModelFault when the
        backend fails; what the model wrote is never an exception.
        """

    def complete_many(
        self, messages: Messages, grammar: Grammar | None, sampling: Sampling, count: int
    ) -> tuple[Completion, ...]:
        """`count` whole answers, in one request where the backend can. Raises as `complete`."""

    def close(self) -> None: ...


@runtime_checkable
class Thinks(Protocol):
    """A language model that knows what begins and what ends its thoughts, if it has any."""

    @property
    def thought_markers(self) -> tuple[str, str] | None: ...


class Planner(Protocol):
    """Thread-safe and deterministic: the same input gives the same plan."""

    def plan(self, domain: str, problem: str) -> PlanResult:
        """Raises PlannerFault when the planner itself cannot be run."""

    @property
    def waiting(self) -> int:
        """How many calls of `plan` wait for others to end."""

    def close(self) -> None: ...
