"""The settings of decoding: the rung of the ladder and how answers are sampled.

An option is one field of `Decoding`: its type, its default, and an `Option` that says
where it applies and how reports name it. The configuration of a rung, what is refused,
and the reports read the field. So a new option is added here, and in the file that acts
on it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pydantic
from pydantic import ConfigDict, Field, PositiveInt
from pydantic_core import ArgsKwargs

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Sampling
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.rungs import RUNGS, Rung, RungName

Reading = Literal["lenient", "strict"]
"""How a free answer is read (see `episode.reading`)."""

Reason = Literal["none", "think", "draft"]

GoalRule = Literal["any", "unmet"]

_EVERY = frozenset(RUNGS)
_WITH_GRAMMAR = frozenset(name for name, rung in RUNGS.items() if rung.constrained)
_FREE = _EVERY - _WITH_GRAMMAR
_IN_STAGES = frozenset({"signatures", "typed", "grounded"})
_TYPED = frozenset(name for name, rung in RUNGS.items() if rung.typed)


@dataclass(frozen=True)
class Option:
    """The properties of an option that its type and its default do not show.

    `about` explains it in a sentence. `own` has the defaults of those rungs that have
    another one. The option applies to `rungs`; on other rungs, only its default and the
    values `anywhere` are allowed, for the reason `why`. `with_value` is another option
    with the value that this one needs. `instead` says that the option stands in for a
    grammar: reports compare such an arm with one that has a grammar.

    `shown` is how reports write a value with keys of its own. `added` is what reports
    write after the rung, for each value that is neither the default nor one of
    `anywhere`; `{}` stands for the value, or `{key}` for one of its keys.
    """

    about: str
    own: Mapping[str, Any] = field(default_factory=dict)
    rungs: frozenset[str] = _EVERY
    anywhere: tuple[str, ...] = ()
    why: str = ""
    with_value: tuple[str, str] | None = None
    instead: bool = False
    shown: str = ""
    added: str = ""

    def in_reports(self, name: str, rung: str, value: Any) -> str:
        """Returns what reports write after the rung for this value of the option."""
        unmentioned = (default_of(name, rung), *self.anywhere)
        if rung not in self.rungs or value in unmentioned:
            return ""
        if isinstance(value, Mapping):
            return self.added.format(**value)
        return self.added.format(value)

    def text(self, value: Any) -> str:
        """Returns the value as reports write it."""
        if value is None:
            return "none"
        if self.shown and isinstance(value, Mapping):
            return self.shown.format(**value)
        return str(value)


def _option(default: Any, about: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(about, **more)})


def _added(default: Any, about: str, **more: Any) -> Any:
    """An option that was added after cells had been recorded: with its default, a cell
    has the name that it had before.
    """
    metadata = {"option": Option(about, **more), "later": True}
    return field(default=default, metadata=metadata)


@pydantic.dataclasses.dataclass(
    config=ConfigDict(extra="forbid"), kw_only=True, frozen=True
)
class Reject:
    """Rejection sampling: free answers are drawn until one is in the language of
    `rung`, at most `tries` of them.
    """

    rung: Literal["typed", "grounded"]
    tries: Annotated[int, Field(ge=1, le=64)]

    def __str__(self) -> str:
        return f"{{rung: {self.rung}, tries: {self.tries}}}"


@pydantic.dataclasses.dataclass(
    config=ConfigDict(extra="forbid"), kw_only=True, frozen=True
)
class Decoding:
    """The settings of decoding. `conf/decoding/<rung>.yaml` names the rung, and every
    other option has its default there, which may depend on the rung.
    """

    rung: RungName
    reading: Reading = _option(
        "lenient",
        "how free answers are read; strict: exact JSON, or one fenced block a file",
        rungs=_FREE,
        why="an answer under a grammar is always read exactly as it is",
        added=", read strictly",
    )
    goal: GoalRule = _option(
        "any",
        "unmet (grounded): the goal must not be true in the initial state",
        own={"grounded": "unmet"},
        rungs=_TYPED,
        why="no other rung compares goals with facts",
    )
    layout: Layout = _option(
        "line",
        "any: any white space and comments; line: one space between words, keywords in"
        " lower case; lines: as line, with each section and each fact on a line",
        own={"free": "any"},
        rungs=_WITH_GRAMMAR,
        why="without one, nothing can fix the layout",
    )
    temperature: Annotated[float, Field(ge=0, le=5)] = _option(
        1.0, "of sampling, from 0 to 5"
    )
    top_p: Annotated[float, Field(gt=0, le=1)] = _option(1.0, "of sampling, at most 1")
    max_tokens: Annotated[int, Field(ge=1)] = _option(
        8192, "the limit of an answer, together with a thought before it"
    )
    reason: Reason = _option(
        "none",
        "think: a thought before the answer (reasoning models only); draft: a free"
        " answer first, which the model then sees",
        rungs=_WITH_GRAMMAR,
        anywhere=("think",),
        why="without one, the answer is as unconstrained as its draft",
        added=" + {}",
    )
    draft_tokens: PositiveInt = _option(
        2048,
        "the limit of a draft, in addition to max_tokens; a draft that is cut is used",
        with_value=("reason", "draft"),
    )
    stage_tokens: dict[str, PositiveInt] = field(
        default_factory=dict,
        metadata={
            "option": Option(
                "token limits of single stages, such as {objects: 1000, facts: 3000}"
            )
        },
    )
    best_of: Annotated[int, Field(ge=1, le=64)] = _option(
        1, "simultaneous answers; the first one with a plan is taken"
    )
    feedback: Literal["planner", "explained"] = _option(
        "planner", "explained: a model is shown the static check's message"
    )
    repair: Literal["none", "syntax", "typed", "grounded"] = _option(
        "none",
        "before planning, PDDL that no mask constrained is repaired with what this rung"
        " knows",
        instead=True,
        added=" + repair {}",
    )
    reject: Reject | None = _option(
        None,
        "such as {rung: typed, tries: 4}: free answers are drawn, at most so many,"
        " until one is in the language of the rung (typed or grounded)",
        rungs=_FREE,
        why="it draws free answers",
        shown="{rung}, {tries} tries",
        added=" + reject {rung}",
    )

    stop_loops: Literal["auto", True, False] = _added(
        "auto",
        "whether a list in which an item appears for the third time is closed, and the"
        " model goes on; auto: under signatures, typed and grounded",
        rungs=_EVERY - {"syntax"},
        why="its grammar is that of a whole answer",
        added=", stop_loops={}",
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _with_defaults_of_rung(cls, given: ArgsKwargs) -> ArgsKwargs:
        values = given.kwargs or {}
        own = own_values(str(values.get("rung")))
        return ArgsKwargs(given.args, {**own, **values})

    def __post_init__(self) -> None:
        for name, option in options().items():
            value = getattr(self, name)
            allowed = (default_of(name, self.rung), *option.anywhere)
            if self.rung not in option.rungs and value not in allowed:
                needed = _in_words(option.rungs)
                default = _spelled(allowed[0])
                raise ConfigError(
                    f"decoding.{name}={value} needs {needed}, and this is"
                    f" decoding={self.rung}: {option.why}; leave decoding.{name} out or"
                    f" choose decoding.{name}={default}."
                )
        if self.reject and self.reject.tries > 1 and self.temperature == 0:
            raise ConfigError(
                f"decoding.reject.tries={self.reject.tries} needs a"
                " decoding.temperature above 0: at 0, a second answer cannot differ"
                " from the first."
            )
        if self.reject and self.stops_loops:
            raise ConfigError(
                "decoding.reject draws whole free answers, in which no loop is stopped;"
                " choose decoding.stop_loops=auto."
            )

    @property
    def excludes(self) -> Rung:
        """The rung's requirements on an answer (`rungs.RUNGS`)."""
        return RUNGS[self.rung]

    @property
    def stops_loops(self) -> bool:
        """Whether a list that repeats itself is closed while it is written."""
        if self.stop_loops == "auto":
            return self.rung in _IN_STAGES
        return self.stop_loops is True

    @property
    def thinking(self) -> bool:
        return self.reason == "think"

    @property
    def needs_context(self) -> bool:
        """Whether the requirements on an answer depend on the context of its
        question.
        """
        judged_by = self.reject.rung if self.reject else self.rung
        if RUNGS[judged_by].needs_context:
            return True
        return self.repair != "none" and RUNGS[self.repair].needs_context

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
        most = self.draft_tokens + self.max_tokens
        if self.reason == "draft" and most >= context_tokens:
            raise ConfigError(
                f"decoding.draft_tokens={self.draft_tokens} and decoding.max_tokens="
                f"{self.max_tokens} leave no room for a prompt in model.context_tokens="
                f"{context_tokens}; lower one of the two or raise the context."
            )


def options() -> dict[str, Option]:
    """Returns the options by name, without the rung."""
    fields = dataclasses.fields(Decoding)
    return {
        known.name: known.metadata["option"] for known in fields if known.name != "rung"
    }


def own_values(rung: str) -> dict[str, Any]:
    """Returns the defaults that are the rung's own."""
    values = {}
    for name, option in options().items():
        if rung in option.own:
            values[name] = option.own[rung]
    return values


def default_of(name: str, rung: str) -> Any:
    """Returns the default of an option on a rung."""
    (found,) = (known for known in dataclasses.fields(Decoding) if known.name == name)
    if found.default_factory is not dataclasses.MISSING:
        return found.default_factory()
    return own_values(rung).get(name, found.default)


def configured() -> dict[str, Any]:
    """Returns the options as `conf/decoding/<rung>.yaml` includes them. A default that
    depends on the rung is a reference, which the configuration resolves.
    """
    values: dict[str, Any] = {"_target_": "pddlego_local.decoding.Decoding"}
    values["rung"] = "???"
    for name, option in options().items():
        reference = f"${{default_of:{name},${{.rung}}}}"
        values[name] = reference if option.own else default_of(name, "")
    return values


def _in_words(rungs: frozenset[str]) -> str:
    if rungs == _WITH_GRAMMAR:
        return "a rung with a grammar"
    return " or ".join(f"decoding={rung}" for rung in RUNGS if rung in rungs)


def _spelled(value: object) -> object:
    return "null" if value is None else value
