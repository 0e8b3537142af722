"""The events of a transcript: what happened in an episode, one event per line.

An event is a JSON object with its name under "event". `formats.to_json` writes it, and
`EVENT` reads it back. This module knows nothing of files or games.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pydantic

from pddlego_local.core.formats import Recorded, one_of
from pddlego_local.core.nouns import Message, PlanOutcome, Roles, Sampling
from pddlego_local.core.outcomes import CAUSES, planning_cause
from pddlego_local.core.record.rows import EpisodeRow


@dataclass(frozen=True, kw_only=True)
class Where(Recorded):
    """Where in an episode a model was asked.

    `step` is the method's step, from 1. `attempt` is the attempt at that step, from 1.
    `retry` is how often the model was asked again in that attempt. `sample` is the
    number of the candidate among the candidates of one request (`best_of`), from 0.
    """

    step: int
    attempt: int = 1
    retry: int = 0
    sample: int = 0


@dataclass(frozen=True, kw_only=True)
class Start(Recorded):
    """The game was reset. `success` says that the game is trivial: it is solved at
    reset.

    `map` and `map_seen` are the same as in `rows.Counts`.
    """

    event: Literal["start"] = "start"
    game: int
    task_type: str
    observation: str
    success: bool
    map: str = ""
    map_seen: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnStage(Recorded):
    """The `Completion` of one stage, with the hash of its `grammar` and its place in
    the answer.

    The stage follows `before`, from whose end `drop` characters had already been
    removed by a rollback. `text` begins with `head`, which was forced and is not part
    of the grammar.

    If there is a "draft", it is the first stage. A draft is free (`grammar` is None)
    and not part of the answer; `asked` is the message to the model after it. Each
    answer that was "rejected" is a stage too, and `why` is the reason. If all answers
    were rejected, the call has the last one.
    """

    name: str
    grammar: str | None
    sampling: Sampling
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
class Call(Recorded):
    """One answer of the model; its request asked for `of` answers.

    `grammar` is the hash of the answer's grammar. It is None if the answer is free, or
    if the grammars are in `stages`; after a draft, `stages` also hold an answer under
    one grammar. `messages` are the prompt. `fault` says why the answer held no value,
    "" if it held one (`outcomes.CAUSES`). `redundant` lists what was removed from the
    answer's files because it was there twice. `forced_tokens` of the
    `completion_tokens` were not sampled. Times are in seconds.
    """

    event: Literal["call"] = "call"
    where: Where
    of: int
    form: str
    messages: tuple[Message, ...]
    grammar: str | None
    sampling: Sampling
    text: str
    thought: str
    finish_reason: Literal["stop", "length", "unfinished_thought", "server_failed"]
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
        """How many stages began with a rollback of a part of the answer."""
        return sum(stage.drop > 0 for stage in self.stages)

    @property
    def rejected(self) -> tuple[DrawnStage, ...]:
        """The free answers that the grammar does not accept (`decoding.reject`)."""
        return tuple(stage for stage in self.stages if stage.name == "rejected")

    @property
    def draft(self) -> DrawnStage | None:
        """The free draft that the model wrote before its answer, None if there is
        none.
        """
        return next((stage for stage in self.stages if stage.name == "draft"), None)


@dataclass(frozen=True, kw_only=True)
class EditApplied(Recorded):
    """A model's edit was applied.

    `faults` are its parts that named something absent. `redundant` are its parts that
    changed nothing, because the file already said the same.
    """

    event: Literal["edit"] = "edit"
    where: Where
    faults: tuple[str, ...]
    redundant: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Repair(Recorded):
    """PDDL was repaired before planning (`decoding.repair`).

    `changes` describes each change in words. `domain` and `problem` are the files
    before the repair, as the model wrote them or as its edit left them.
    """

    event: Literal["repair"] = "repair"
    where: Where
    domain: str
    problem: str
    changes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Plan(Recorded):
    """The planner's verdict on one answer, for one goal.

    `goal` is the goal that the method set, None if the model wrote the goal. `then` are
    the method's own steps for the goal. `message` is the planner's message, and `told`
    is the message to the model. Times are in seconds. `cost` is the plan's cost, None
    if there is no plan or it was not recorded.
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
    cost: int | None = None

    @property
    def cause(self) -> str:
        """The result of the answer: a key of `outcomes.CAUSES`."""
        return planning_cause(self.outcome, self.then)


@dataclass(frozen=True, kw_only=True)
class Chosen(Recorded):
    """The method chose this one of several candidates and goes on with it."""

    event: Literal["chosen"] = "chosen"
    where: Where


@dataclass(frozen=True, kw_only=True)
class ActionTaken(Recorded):
    """A command was given to the game.

    `planned` is the plan's action, None if the model or the method named the command.
    `command` is None if the game has no command for the planned action. `feedback` says
    why the command was refused, "" if it was carried out.
    """

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
    """The game was reset, and the commands in `replayed` were given again."""

    event: Literal["restart"] = "restart"
    replayed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class State(Recorded):
    """The true state of the game after a reset or a command, as the difference from
    the last `State` of the episode: a state that is the same leaves no event.

    `objects` are new objects by their types, and `predicates` new predicates whose
    facts are all known, such as "at/1". `added` and `removed` are facts, such as "(at
    kitchen)". `roles` say which words mean the player, doors and places; they are empty
    if they are as before. No method and no model is shown any of it.
    """

    event: Literal["state"] = "state"
    added: tuple[str, ...]
    removed: tuple[str, ...] = ()
    objects: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    predicates: tuple[str, ...] = ()
    roles: Roles = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Note(Recorded):
    """The method noted `facts`, as JSON. The row keeps the last value of each name."""

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


_OfAnAnswer = Call | EditApplied | Repair | Plan | Chosen
Event = Start | State | _OfAnAnswer | ActionTaken | Restart | Note | Unsolvable | End
Emit = Callable[[Event], None]

EVENT: pydantic.TypeAdapter[Event] = pydantic.TypeAdapter(
    Annotated[Event, pydantic.Field(discriminator="event")]
)
