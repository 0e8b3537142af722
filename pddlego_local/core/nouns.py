"""What travels along the straight line from an observation to the next one.

    environment.reset(seed) → Observation → method: Question → model.complete → Completion
        → (domain, problem) → planner.plan → PlanResult → commands → environment.step → …

Read this file first, then `core.protocols`, the parts that pass these on. Both know nothing of
Hydra, vLLM, Fast Downward or any game.
"""

import hashlib
import re
from collections.abc import Callable
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
    """What the environment answered to one command, or to `reset`.

    `text` is the game's own wording. `feedback` is "" when the command was carried out; otherwise
    what a model is told about the refusal (PDDLego+ appendix C, "we manually implement fine-grained
    errors"). `success` follows the papers' rule of the environment; `lost` says that the game can
    no longer be won. `commands` are those that the game offers here, sorted. `outcome` is how the
    episode ends here, where the environment has an outcome of its own for that.
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
    """One action that an environment allows: move, "(?from - location …)", "move {dir}".

    `command` is the game's wording, with the parameters' names in braces where they are said.
    `example` is that template as action-writing models are told it: "move [west]". Of an action
    that is not `in_prompt` a model that writes its own domain is not told.
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
        """What a command says of the parameters, where it does: "move west" is {"dir": "west"};
        None if it is not a command for this action."""
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(self.command))
        match = re.fullmatch(pattern, command)
        return match.groupdict() if match else None


@dataclass(frozen=True)
class Goal:
    """One of an environment's goals, the end goal or a sub-goal (PDDLego §2).

    `pddl` is the goal's condition for the hand-written domain; `words` say the same. `then` are
    commands that the paper's method plays mechanically once a plan for the goal has run.
    """

    words: str
    pddl: str
    then: tuple[str, ...] = ()


@dataclass(frozen=True)
class Turn:
    """One entry of an episode's memory: a command and the observation's text it gave."""

    command: str
    text: str


@dataclass(frozen=True)
class Names:
    """What the observations so far name, for the rung "grounded".

    `objects` are those that PDDL may declare, in PDDL's spelling, each once, as they appeared, with
    a placeholder for each place of unknown name (the room behind a closed door). `things` are the
    same in the game's spelling, without placeholders.
    """

    objects: tuple[str, ...] = ()
    things: tuple[str, ...] = ()


@dataclass(frozen=True)
class Message:
    role: Role
    content: str


Messages = tuple[Message, ...]
"""What a language model is asked: the whole of what it sees."""


@dataclass(frozen=True)
class Grammar:
    """A constraint on a model's answer: Lark text or a JSON schema ("free" is `None`).

    `text` is self-contained (no imports of other files) and starts at the rule `start`.
    """

    name: str
    kind: Literal["lark", "json_schema"]
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Sampling:
    """How one answer is drawn. `seed` belongs to this request alone (see `seeds`).

    `draft_tokens` limits a free draft before the answer, 0: none. A draft is a request of its own
    (`episode.drawing`); the request that a backend gets never asks for one.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 4096
    seed: int = 0
    thinking: bool = False
    draft_tokens: int = 0


@dataclass(frozen=True)
class Prefix:
    """The beginning of an answer that is continued; without text, one that later requests continue.

    `opening` are the tokens before it (prompt and thought), `tokens` those of `text`, without an
    end-of-text. The model is to write what follows `continued`: the text without its last
    `rollback_chars` characters, and with `forced_prefix` behind it (`models.splice`). If there is a
    `watch`, the backend calls it with what the model has written behind that, each time that it is
    more, and stops when it returns True.
    """

    text: str = ""
    opening: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()
    rollback_chars: int = 0
    forced_prefix: str = ""
    watch: Callable[[str], bool] | None = field(default=None, repr=False, compare=False)

    @property
    def kept(self) -> str:
        """The text without what is rolled back."""
        return self.text[: len(self.text) - self.rollback_chars]

    @property
    def continued(self) -> str:
        return self.kept + self.forced_prefix


@dataclass(frozen=True)
class Completion:
    """What a model answered.

    `finish_reason` is "stop" (the model or the grammar ended the answer), "length" (cut by a token
    limit), "circle" (stopped by `Prefix.watch`) or "unfinished_thought" (a reasoning model never
    reached its answer: `text` is empty).
    `completion_tokens` are those of `thought` and answer; of these, `forced_tokens` were not
    sampled: the grammar left no choice. `prefix` is the answer so far, where it is one in stages:
    then `text` is what this stage added behind its head, and the head's tokens are forced ones.
    """

    text: str
    finish_reason: Literal["stop", "length", "circle", "unfinished_thought"]
    prompt_tokens: int
    completion_tokens: int
    latency_s: float
    thought: str = ""
    prefix: Prefix | None = field(default=None, repr=False, compare=False)
    forced_tokens: int = 0

    @property
    def sampled_tokens(self) -> int:
        return self.completion_tokens - self.forced_tokens

    @property
    def recorded(self) -> dict[str, Any]:
        """What a record holds of it, by name: all but the prefix, which is the backend's."""
        return {name: value for name, value in vars(self).items() if name != "prefix"}


@dataclass(frozen=True)
class PlanResult:
    """What the planner said of one (domain, problem) pair.

    `plan` is a tuple of ground actions such as "(move kitchen corridor west)", in the spelling of
    the PDDL; it is empty unless the outcome is `solved`. `message` is what the planner says.
    `wall_time_s` is what the planner worked, `wait_s` the wait for it before, in seconds.
    """

    outcome: PlanOutcome
    plan: tuple[str, ...]
    message: str
    wall_time_s: float
    wait_s: float = 0.0


@pydantic.dataclasses.dataclass(
    config=pydantic.ConfigDict(extra="forbid"), kw_only=True, frozen=True
)
class Budget:
    """How long an episode may be, the same for every method of a comparison.

    "actions" are commands since the game's last reset, replayed and refused ones included;
    "rounds" are the method's own steps: one plan, or one action of a method that names actions.
    """

    unit: Literal["actions", "rounds"]
    limit: Annotated[int, pydantic.Field(ge=1)]
