"""How answers are drawn: the rung of the decoding ladder and the sampling settings."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, PositiveInt
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Sampling
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.rungs import RUNGS, GoalArm, Lists, RungName

Reading = Literal["lenient", "strict"]
"""How a free answer is read: see `episode.reading`."""

Reason = Literal["none", "think", "draft"]


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Reject:
    """Free answers are drawn, `tries` at most, until one lies in the language of the `rung`."""

    rung: Literal["typed", "grounded"]
    tries: Annotated[int, Field(ge=1, le=64)]


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Decoding:
    """`conf/decoding/<rung>.yaml`. `max_tokens` counts the answer and, if any, the thought.

    `reason` says what comes before the constrained answer: nothing ("none"); the thought of a
    reasoning model ("think"); or a free answer of at most `draft_tokens` ("draft"), which the model
    then has before its eyes. A draft that its limit cut is used as it is.

    `stage_tokens` limits the stages of an answer by their names ("types", "predicates", "actions",
    "objects", "facts", "goal"; of the rung "signatures" "domain", "problem"), each within what
    `max_tokens` leaves. `goal` says which goals "typed" and "grounded" leave out: none ("any"), or
    those that are already true ("unmet"), as `conf` has it for "grounded". `lists` says whether
    these two leave out only what makes an answer wrong ("free", as `conf` has it for both) or also
    what is said again ("tight", which records without this option mean). `layout` is how an
    answer is written where that carries no meaning (`decoding.layout`); `conf` gives every rung
    with a grammar "line". `reading` is how answers of "free" are read (`episode.reading`).
    `best_of` answers are drawn at once, and the first that the planner solves is taken. `feedback`
    is what a model reads about PDDL without a plan: the planner's own words, or those of the static
    check (`pddl.check`).

    `repair` mends PDDL with what that rung knows before it is planned with (`pddl.repair`).

    `reject` draws free answers until one is in a rung's language (`episode.rejection`). Without
    `rollback` an answer of "typed" or "grounded" is drawn under masks alone: what is wrong and no
    mask could know beforehand stays, as does a goal that is already true.
    """

    rung: RungName
    reading: Reading = "lenient"
    goal: GoalArm = "any"
    lists: Lists = "tight"
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
    rollback: bool = True

    def __post_init__(self) -> None:
        if self.goal != "any" and not RUNGS[self.rung].typed:
            raise ConfigError(
                f"decoding.goal={self.goal} needs decoding=typed or decoding=grounded: "
                f"the rung {self.rung} knows no facts; choose decoding.goal=any."
            )
        if self.lists != "tight" and not RUNGS[self.rung].typed:
            raise ConfigError(
                f"decoding.lists={self.lists} needs decoding=typed or decoding=grounded: the rung "
                f"{self.rung} knows no lists; leave decoding.lists out."
            )
        if not self.rollback and not RUNGS[self.rung].typed:
            raise ConfigError(
                "decoding.rollback=false needs decoding=typed or decoding=grounded: the rung "
                f"{self.rung} takes nothing back; choose decoding.rollback=true."
            )
        constrained = RUNGS[self.rung].constrained
        if self.reject and constrained:
            raise ConfigError(
                f"decoding.reject draws free answers, and decoding={self.rung} has a grammar; "
                "choose decoding=free or decoding.reject=null."
            )
        if self.reject and self.reject.tries > 1 and self.temperature == 0:
            raise ConfigError(
                f"decoding.reject.tries={self.reject.tries} needs a decoding.temperature above 0, "
                "at which a second answer can be another one."
            )
        if self.reason == "draft" and not constrained:
            raise ConfigError(
                "decoding.reason=draft needs a rung with a grammar: on the rung free the answer "
                "after a draft is as free as the draft; choose another rung or "
                "decoding.reason=none."
            )
        if self.reading != "lenient" and constrained:
            raise ConfigError(
                f"decoding.reading={self.reading} is for decoding=free: what is drawn under a "
                "grammar is read to the letter; choose decoding.reading=lenient."
            )
        if self.layout != "any" and not constrained:
            raise ConfigError(
                f"decoding.layout={self.layout} needs a rung with a grammar, and decoding=free has "
                "none; choose decoding.layout=any."
            )

    @property
    def thinking(self) -> bool:
        return self.reason == "think"

    @property
    def needs_context(self) -> bool:
        """Whether what is asked of an answer depends on the names that the prompt shows."""
        rungs = {(self.reject or self).rung, self.repair} & RUNGS.keys()
        return any(RUNGS[rung].needs_context for rung in rungs)

    def sampling(self, seed: int) -> Sampling:
        return Sampling(
            self.temperature,
            self.top_p,
            self.max_tokens,
            seed,
            thinking=self.thinking,
            draft_tokens=self.draft_tokens if self.reason == "draft" else 0,
        )

    def check_room(self, context_tokens: int) -> None:
        """Raises ConfigError if a draft and an answer, each as long as it may be, leave no room for
        a prompt in a context of so many tokens."""
        if self.reason == "draft" and self.draft_tokens + self.max_tokens >= context_tokens:
            raise ConfigError(
                f"decoding.draft_tokens={self.draft_tokens} and decoding.max_tokens="
                f"{self.max_tokens} leave no room for a prompt in model.context_tokens="
                f"{context_tokens}; lower one of the two or raise the context."
            )
