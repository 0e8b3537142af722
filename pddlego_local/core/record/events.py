"""The events of a transcript: what happened in an episode, one line each.

An event is a JSON object with its name under "event". `formats.to_json` writes it and `EVENT`
reads it back. Knows no file and no game.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pydantic

from pddlego_local.core.formats import Recorded, one_of
from pddlego_local.core.nouns import Message, PlanOutcome, Sampling
from pddlego_local.core.outcomes import CAUSES, planning_cause
from pddlego_local.core.record.rows import EpisodeRow

_FORMER = {"log_mass", "log_drawn", "particles", "potential"}


def _without_former(entry: Any) -> Any:
    """Drops fields that earlier versions recorded, of weighted draws, and that nothing reads."""
    if not isinstance(entry, dict):
        return entry
    return {name: value for name, value in entry.items() if name not in _FORMER}


_Sampling = Annotated[Sampling, pydantic.BeforeValidator(_without_former)]


@dataclass(frozen=True)
class _Drawn(Recorded):
    """What a model drew, as this version or an earlier one recorded it."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_this_version(cls, entry: Any) -> Any:
        return _without_former(entry)


@dataclass(frozen=True, kw_only=True)
class Where(Recorded):
    """Where in an episode a model is asked. `step` is the method's, from 1; `attempt` the try of
    that step, from 1; `retry` how often it was asked again there; `sample` the number of the
    candidate among those of one request (`best_of`), from 0."""

    step: int
    attempt: int = 1
    retry: int = 0
    sample: int = 0


@dataclass(frozen=True, kw_only=True)
class Start(Recorded):
    """The game was reset; `success` says that it is trivial: solved at reset. `map` and `map_seen`
    are as in `rows.Counts`."""

    event: Literal["start"] = "start"
    game: int
    task_type: str
    observation: str
    success: bool
    map: str = ""
    map_seen: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnStage(_Drawn):
    """The `Completion` of one stage, the `grammar` (hash) that it was drawn under, and where in the
    answer it stands: after `before`, from whose end `drop` characters had been rolled back. `text`
    begins with `head`, which was forced and is no part of the grammar.

    A "draft" comes first, where there is one: it is free (`grammar` None) and no part of the
    answer, and `asked` is what the model was told after it. Each answer that was "rejected" is a
    stage too, and `why` says for what; where all were, the call has the last of them.
    """

    name: str
    grammar: str | None
    sampling: _Sampling
    before: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    latency_s: float
    thought: str = ""
    drop: int = 0
    head: str = ""
    forced_tokens: int = 0
    asked: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Call(_Drawn):
    """One answer of the model, one of the `of` that its request asked for.

    `grammar` is the hash of the grammar that it was drawn under, None if free or in `stages`;
    after a draft `stages` also hold an answer under one grammar. `messages` are the prompt.
    `fault` says why it held no value, "" if it did (`outcomes.CAUSES`). `redundant` is what was
    left out of its files because it was said twice. Of its `completion_tokens`, `forced_tokens`
    were not sampled. Times in seconds.
    """

    event: Literal["call"] = "call"
    where: Where
    of: int
    form: str
    messages: tuple[Message, ...]
    grammar: str | None
    sampling: _Sampling
    text: str
    thought: str
    finish_reason: Literal["stop", "length", "unfinished_thought"]
    prompt_tokens: int
    completion_tokens: int
    forced_tokens: int
    latency_s: float
    stages: tuple[DrawnStage, ...] = ()
    fault: Annotated[str, one_of({"", *CAUSES})]
    redundant: tuple[str, ...] = ()

    @property
    def sampled_tokens(self) -> int:
        return self.completion_tokens - self.forced_tokens

    @property
    def rollbacks(self) -> int:
        """Stages before which some of the answer was rolled back."""
        return sum(stage.drop > 0 for stage in self.stages)

    @property
    def rejected(self) -> tuple[DrawnStage, ...]:
        """The free answers that were not in the language (`decoding.reject`)."""
        return tuple(stage for stage in self.stages if stage.name == "rejected")

    @property
    def draft(self) -> DrawnStage | None:
        """What the model wrote freely before its answer."""
        return next((stage for stage in self.stages if stage.name == "draft"), None)


@dataclass(frozen=True, kw_only=True)
class EditApplied(Recorded):
    """A model's edit was applied. `faults` are its parts that named something absent; `redundant`
    are its parts that changed nothing, because it was so before."""

    event: Literal["edit"] = "edit"
    where: Where
    faults: tuple[str, ...]
    redundant: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Repair(Recorded):
    """PDDL was mended before planning (`decoding.repair`), each of the `changes` in words. `domain`
    and `problem` are as the model wrote them, or as its edit left them."""

    event: Literal["repair"] = "repair"
    where: Where
    domain: str
    problem: str
    changes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Plan(Recorded):
    """The planner's verdict on one answer, for one goal.

    `goal` is the one that the method set, None if the model wrote it; `then` are the method's own
    steps for it. `message` is the planner's, `told` what the model is told. Times in seconds.
    """

    event: Literal["plan"] = "plan"
    where: Where
    goal: str | None
    then: tuple[str, ...]
    domain: str
    problem: str
    outcome: PlanOutcome
    plan: tuple[str, ...]
    message: str
    told: str
    wall_time_s: float
    wait_s: float

    @property
    def cause(self) -> str:
        """What came of the answer, by `outcomes.CAUSES`."""
        return planning_cause(self.outcome, self.then)


@dataclass(frozen=True, kw_only=True)
class Chosen(Recorded):
    """Of several candidates, the method goes on with this one."""

    event: Literal["chosen"] = "chosen"
    where: Where


@dataclass(frozen=True, kw_only=True)
class ActionTaken(Recorded):
    """A command was given. `planned` is the plan's action, None where the model or the method named
    the command; `command` is None where the game has none for it. `feedback` says why it was
    refused, "" if it was carried out."""

    event: Literal["action"] = "action"
    planned: str | None
    command: str | None
    observation: str
    feedback: str
    success: bool

    @property
    def refused(self) -> bool:
        return bool(self.feedback)


@dataclass(frozen=True, kw_only=True)
class Restart(Recorded):
    """The game was reset and these commands were given again."""

    event: Literal["restart"] = "restart"
    replayed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Note(Recorded):
    """Facts of the method's own, as JSON; the row keeps the last of each name."""

    event: Literal["note"] = "note"
    facts: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Unsolvable(Recorded):
    """The game has no solution."""

    event: Literal["unsolvable"] = "unsolvable"
    message: str


@dataclass(frozen=True, kw_only=True)
class End(Recorded):
    """The episode is over."""

    event: Literal["end"] = "end"
    row: EpisodeRow


Event = (
    Start
    | Call
    | EditApplied
    | Repair
    | Plan
    | Chosen
    | ActionTaken
    | Restart
    | Note
    | Unsolvable
    | End
)
Emit = Callable[[Event], None]

EVENT: pydantic.TypeAdapter[Event] = pydantic.TypeAdapter(
    Annotated[Event, pydantic.Field(discriminator="event")]
)
