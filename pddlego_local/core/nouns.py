"""The data types that are passed along from one observation to the next.

    environment.reset(seed) → Observation → method: Question → model.complete →
    Completion
        → (domain, problem) → planner.plan → PlanResult → commands → environment.step →
        …

Read this file first, then `core.protocols`, which defines the parts that exchange these
types. Both files know nothing of Hydra, vLLM, Fast Downward or any game.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import pydantic

Role = Literal["system", "user", "assistant"]
PlanOutcome = Literal[
    "solved",
    "goal_already_true",
    "unsolvable",
    "translate_error",
    "timeout",
    "out_of_memory",
    "planner_fault",
]


@dataclass(frozen=True)
class Observation:
    """The environment's reply to one command, or to `reset`.

    `text` is the game's own wording. `feedback` is "" if the command was carried out;
    otherwise it explains the refusal to the model (PDDLego+ appendix C, "we manually
    implement fine-grained errors"). `success` follows the rule that the papers use for
    this environment. `lost` says that the game can no longer be won. `commands` are the
    commands that the game offers here, sorted. `outcome` names the episode's outcome if
    the episode ends here with an outcome that the environment itself declares;
    otherwise it is "".
    """

    text: str
    feedback: str = ""
    success: bool = False
    lost: bool = False
    commands: tuple[str, ...] = ()
    outcome: str = ""

    @property
    def refused(self) -> bool:
        return bool(self.feedback)


@pydantic.dataclasses.dataclass(config=pydantic.ConfigDict(extra="forbid"), frozen=True)
class Action:
    """One action that an environment allows: "move", "(?from - location …)", "move
    {dir}".

    `command` is the game's wording, a template with parameter names in braces.
    `example` is this template as it is shown to models that write actions: "move
    [west]". If `in_prompt` is False, the action is not shown to a model that writes its
    own domain.
    """

    name: str
    parameters: str
    command: str
    example: str = ""
    in_prompt: bool = True

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The parameters' names in order: ("from", "to", "dir")."""
        return tuple(re.findall(r"\?([\w-]+)", self.parameters))

    def arguments(self, command: str) -> dict[str, str] | None:
        """Returns the parameter values that `command` contains: {"dir": "west"} for
        "move west".

        Returns None if it is not a command for this action.
        """
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(self.command))
        match = re.fullmatch(pattern, command)
        return match.groupdict() if match else None


@dataclass(frozen=True)
class Goal:
    """One goal of an environment: the end goal or a sub-goal (PDDLego §2).

    `pddl` is the goal's condition for the hand-written domain, and `words` describes it
    in plain language. `then` are commands that the paper's method issues without
    planning, once a plan for the goal has been executed.
    """

    words: str
    pddl: str
    then: tuple[str, ...] = ()


@dataclass(frozen=True)
class Turn:
    """One entry of an episode's memory: a command and the text of the resulting
    observation.
    """

    command: str
    text: str


Turns = Sequence[Turn]
"""An episode's memory, or a part of it."""


@dataclass(frozen=True)
class Names:
    """The names that occur in the observations so far, for the rung "grounded".

    `objects` are the names that PDDL may declare, in PDDL's spelling, without
    duplicates, in the order of their appearance. They include a placeholder for each
    place whose name is unknown (the room behind a closed door). `things` are the same
    names in the game's spelling, without the placeholders.
    """

    objects: tuple[str, ...] = ()
    things: tuple[str, ...] = ()


Roles = Mapping[Literal["player", "doors", "places"], tuple[str, ...]]
"""What words of an environment's domain mean on a map: the predicates that say where
the player is, with the place as their last term, and those of closed doors, both such
as "at/1"; and the types of places.
"""


@dataclass(frozen=True)
class TrueState:
    """What is true in a game at one moment, in the words of the environment's domain.

    `objects` has their types. `predicates` are those, with their arities, whose facts
    are all known, so that a fact that is absent is false.
    """

    objects: Mapping[str, str]
    facts: frozenset[tuple[str, ...]]
    predicates: frozenset[tuple[str, int]]
    roles: Roles = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    role: Role
    content: str


Messages = tuple[Message, ...]
"""The complete prompt of one request to a language model."""


@dataclass(frozen=True)
class Grammar:
    """A constraint on a model's answer: Lark text or a JSON schema (a free answer has
    `None`).

    `text` is self-contained (it imports no other files), and the start rule is `start`.
    """

    name: str
    kind: Literal["lark", "json_schema"]
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Sampling:
    """How one answer is sampled. `seed` is used for this request only (see `seeds`).

    `draft_tokens` limits a free draft before the answer; 0 means no draft. A draft is a
    separate request (`episode.drawing`), so a request that a backend receives never
    asks for one.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 4096
    seed: int = 0
    thinking: bool = False
    draft_tokens: int = 0


@dataclass(frozen=True)
class Prefix:
    """The beginning of an answer, which the model continues.

    An empty `text` means that this is the first of several requests for one answer.
    `opening` are the tokens before `text` (prompt and thought), and `tokens` are those
    of `text`, without an end-of-text token. The model writes what follows `continued`:
    the text without its last `rollback_chars` characters, then `forced_prefix`
    (`models.splice`). If there is a `watch`, the backend calls it with the text written
    after `continued` each time that this text has grown, and stops when `watch` returns
    True.
    """

    text: str = ""
    opening: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()
    rollback_chars: int = 0
    forced_prefix: str = ""
    watch: Callable[[str], bool] | None = field(default=None, repr=False, compare=False)

    @property
    def kept(self) -> str:
        """The text without the characters that are rolled back."""
        return self.text[: len(self.text) - self.rollback_chars]

    @property
    def continued(self) -> str:
        return self.kept + self.forced_prefix


@dataclass(frozen=True)
class Completion:
    """A model's answer to one request.

    `finish_reason` is "stop" (the model or the grammar ended the answer), "length" (a
    token limit cut it), "circle" (`Prefix.watch` stopped it), "unfinished_thought" (a
    reasoning model never started its answer, and `text` is empty) or "server_failed"
    (the server cannot answer this request, and `text` is empty).
    `completion_tokens` counts the tokens of `thought` and of the answer.
    `forced_tokens` of them were not sampled, because the grammar fixed them. `prefix`
    is the answer so far if the answer is written in stages. In that case `text` is what
    this stage added after its `forced_prefix`, and the tokens of `forced_prefix` are
    counted as forced.
    """

    text: str
    finish_reason: Literal[
        "stop", "length", "circle", "unfinished_thought", "server_failed"
    ]
    prompt_tokens: int
    completion_tokens: int
    latency_s: float
    thought: str = ""
    prefix: Prefix | None = field(default=None, repr=False, compare=False)
    forced_tokens: int = 0

    @property
    def recorded(self) -> dict[str, Any]:
        """The fields that a record stores, by name: all but `prefix`, which only
        backends use.
        """
        return {name: value for name, value in vars(self).items() if name != "prefix"}


@dataclass(frozen=True)
class PlanResult:
    """The planner's verdict on one (domain, problem) pair.

    `plan` is a tuple of ground actions such as "(move kitchen corridor west)", in the
    spelling of the PDDL; it is empty unless the outcome is `solved`. `message` is the
    planner's message. `wall_time_s` is the planner's own time, and `wait_s` the time
    spent waiting for it before that, in seconds. `cost` is the plan's cost, which is
    its length if the domain has no action costs; None if there is no plan.
    """

    outcome: PlanOutcome
    plan: tuple[str, ...]
    message: str
    wall_time_s: float
    wait_s: float = 0.0
    cost: int | None = None


@pydantic.dataclasses.dataclass(
    config=pydantic.ConfigDict(extra="forbid"), kw_only=True, frozen=True
)
class Budget:
    """The maximum length of an episode, the same for every method of a comparison.

    "actions" counts the commands since the game's last reset, including replayed and
    refused ones. "rounds" counts the method's own steps: a step is one plan, or one
    action of a method that names actions.
    """

    unit: Literal["actions", "rounds"]
    limit: Annotated[int, pydantic.Field(ge=1)]


@pydantic.dataclasses.dataclass(
    config=pydantic.ConfigDict(extra="forbid"), kw_only=True, frozen=True
)
class DeadEnds:
    """After how many random walks in a world its goal was out of reach, as the author
    of the world notes it. Without `walks`, nobody has looked.
    """

    world: str
    walks: int = 0
    dead_ends: int = 0
