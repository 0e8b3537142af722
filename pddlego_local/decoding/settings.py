"""The settings of decoding: the rung of the ladder and how answers are sampled."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Sampling
from pddlego_local.core.resources import table
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.rungs import RUNGS, GoalArm, RungName

Reading = Literal["lenient", "strict"]
"""How a free answer is read (see `episode.reading`)."""

Reason = Literal["none", "think", "draft"]

_REFUSED: dict[str, str] = table(__file__)
"""Why options cannot be combined."""


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Reject:
    """Rejection sampling: free answers are drawn until one is in the language of
    `rung`, at most `tries` of them.
    """

    rung: Literal["typed", "grounded"]
    tries: Annotated[int, Field(ge=1, le=64)]


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Decoding:
    """The settings of decoding, from `conf/decoding/<rung>.yaml`.

    `max_tokens` limits the answer together with the model's thought, if there is one.

    `reason` says what comes before the constrained answer: nothing ("none"), the
    thought of a reasoning model ("think"), or a free answer of at most `draft_tokens`
    tokens ("draft"), which the model then sees. A draft that reaches this limit is cut
    off there and used as it is.

    `stage_tokens` limits the tokens of single stages by name: "types", "predicates",
    "actions", "objects", "facts" and "goal", or on the rung "signatures" "domain" and
    "problem". No stage may exceed what is left of `max_tokens`.

    `goal` says which goals "typed" and "grounded" exclude: none ("any"), or goals that
    are already true ("unmet", the value in `conf` for "grounded"). `layout` fixes what
    carries no meaning in an answer, such as spaces
    (`decoding.layout`); `conf` sets "line" for every rung with a grammar. `reading`
    says how answers of "free" are read (`episode.reading`).

    `best_of` answers are drawn at once, and the first one that the planner solves is
    used. `feedback` is what a model reads about PDDL without a plan: the message of the
    planner, or the messages of the static check (`pddl.check`). `repair` repairs PDDL
    before planning, with what the given rung knows (`pddl.repair`). `reject` draws free
    answers until one is in the language of a rung (`episode.drawing`).
    """

    rung: RungName
    reading: Reading = "lenient"
    goal: GoalArm = "any"
    layout: Layout = "any"
    temperature: Annotated[float, Field(ge=0, le=5)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, Field(ge=1)] = 8192
    reason: Reason = "none"
    draft_tokens: PositiveInt = 2048
    stage_tokens: dict[str, PositiveInt] = Field(default_factory=dict)
    best_of: Annotated[int, Field(ge=1, le=64)] = 1
    feedback: Literal["planner", "explained"] = "planner"
    repair: Literal["none", "syntax", "typed", "grounded"] = "none"
    reject: Reject | None = None

    def __post_init__(self) -> None:
        rung, reject = RUNGS[self.rung], self.reject
        refused = {
            "goal": self.goal != "any" and not rung.typed,
            "reject": reject and rung.constrained,
            "tries": reject and reject.tries > 1 and self.temperature == 0,
            "draft": self.reason == "draft" and not rung.constrained,
            "reading": self.reading != "lenient" and rung.constrained,
            "layout": self.layout != "any" and not rung.constrained,
        }
        for name in (name for name, wrong in refused.items() if wrong):
            raise ConfigError(_REFUSED[name].format_map(vars(self)))

    @property
    def thinking(self) -> bool:
        return self.reason == "think"

    @property
    def needs_context(self) -> bool:
        """Whether the requirements on an answer depend on the context of its
        question.
        """
        rungs = {(self.reject or self).rung, self.repair} & RUNGS.keys()
        return any(RUNGS[rung].needs_context for rung in rungs)

    def sampling(self, seed: int) -> Sampling:
        """Returns the sampling settings of a request with this seed."""
        return Sampling(
            self.temperature,
            self.top_p,
            self.max_tokens,
            seed,
            thinking=self.thinking,
            draft_tokens=self.draft_tokens if self.reason == "draft" else 0,
        )

    def check_room(self, context_tokens: int) -> None:
        """Raises ConfigError if a draft and an answer of maximum length leave no room
        for a prompt in a context of `context_tokens` tokens.
        """
        if (
            self.reason == "draft"
            and self.draft_tokens + self.max_tokens >= context_tokens
        ):
            raise ConfigError(
                f"decoding.draft_tokens={self.draft_tokens} and decoding.max_tokens="
                f"{self.max_tokens} leave no room for a prompt in model.context_tokens="
                f"{context_tokens}; lower one of the two or raise the context."
            )
