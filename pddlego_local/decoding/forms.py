"""Answer formats: every answer is one JSON object, and its `Form` says which.

The same object is requested on every rung, so that arms differ in the decoder alone.
`ladder` has the constraint of each rung on each form.
"""

import functools
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, TypeVar

import pydantic
from pydantic import Field

from pddlego_local.core.resources import table

_MESSAGES: dict[str, str] = table(__file__)

Fault = Literal[
    "",
    "empty",
    "truncated",
    "unfinished_thought",
    "server_failed",
    "no_json",
    "wrong_keys",
    "placeholder",
]


class Fields(pydantic.BaseModel):
    """Base class of the contents of answers: exactly these keys, all required, in this
    order.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


T_co = TypeVar("T_co", bound=Fields, covariant=True)


@dataclass(frozen=True)
class Form(Generic[T_co]):
    """An answer format.

    `keys` has the keys that the rung "json" requires, with their types. The rung
    "syntax" also constrains the strings, by a Lark `grammar` or by `patterns` for the
    same keys. `example` shows the form to a model whose answer did not have it.
    Top-level strings must not be blank, except those of the keys in `may_be_blank`.
    """

    name: str
    keys: type[T_co]
    example: str
    grammar: str = ""
    patterns: type[Fields] | None = None
    may_be_blank: frozenset[str] = frozenset()

    @property
    def after_draft(self) -> str:
        """The message to a model after its draft (`decoding.reason=draft`), on every
        rung.
        """
        return _MESSAGES["after_draft"].format(example=self.example)

    def message(self, fault: Fault) -> str:
        """Returns the message to a model whose answer did not have this form."""
        return _MESSAGES[fault].format(example=self.example) if fault else ""


class Pddl(Fields):
    df: str
    pf: str


class DomainFile(Fields):
    df: str


class Problem(Fields):
    pf: str


class Command(Fields):
    action: str


class _OneCommand(Fields):
    action: Annotated[str, Field(pattern=r"^[a-zA-Z][a-zA-Z0-9 /-]{0,79}$")]


class Changes(Fields):
    """One part of an edit: lines to add and to delete, and names to replace
    everywhere.
    """

    add: list[str]
    replace: dict[str, str]
    delete: list[str]


class Edit(Fields):
    """Changes to a problem file (PDDLego §2 and appendix B)."""

    objects: Changes
    init: Changes


_NAME = r"[A-Za-z][A-Za-z0-9_-]{0,39}"
_OBJECTS = Annotated[str, Field(pattern=rf"^{_NAME}( {_NAME}){{0,9}} - {_NAME}$")]
_FACT = Annotated[str, Field(pattern=rf"^\({_NAME}( {_NAME}){{0,5}}\)$")]
_REPLACED = Annotated[str, Field(pattern=rf"^{_NAME}$")]
_NAME_OR_FACT = Annotated[
    str, Field(pattern=rf"^({_NAME}|\({_NAME}( {_NAME}){{0,5}}\))$")
]
# A JSON schema allows other keys unless `additionalProperties` is false.
_AT_MOST_10 = Field(max_length=10, json_schema_extra={"additionalProperties": False})


class _ObjectChanges(Fields):
    add: Annotated[list[_OBJECTS], Field(max_length=80)]
    replace: Annotated[dict[_REPLACED, _REPLACED], _AT_MOST_10]
    delete: Annotated[list[_REPLACED], Field(max_length=80)]


class _FactChanges(Fields):
    add: Annotated[list[_FACT], Field(max_length=60)]
    replace: Annotated[dict[_NAME_OR_FACT, _NAME_OR_FACT], _AT_MOST_10]
    delete: Annotated[list[_FACT], Field(max_length=60)]


class _SyntaxEdit(Fields):
    objects: _ObjectChanges
    init: _FactChanges


class Seen(Fields):
    """The closed containers and the things in an observation (PDDLego §4,
    CookingWorld).
    """

    closed: list[str]
    items: list[str]


_THING = Annotated[str, Field(pattern=r"^[a-z][a-z -]{0,39}$")]


class _ShortSeen(Fields):
    closed: Annotated[list[_THING], Field(max_length=15)]
    items: Annotated[list[_THING], Field(max_length=30)]


class Goals(Fields):
    """A plan in words: the goals in the order in which to reach them (DEPS,
    planner).
    """

    goals: Annotated[list[str], Field(min_length=1)]


_GOAL = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,120}$")]


class _ShortGoals(Fields):
    goals: Annotated[list[_GOAL], Field(min_length=1, max_length=20)]


class Text(Fields):
    """A few sentences."""

    text: str


class _Sentences(Fields):
    text: Annotated[str, Field(min_length=1, max_length=2000)]


class Move(Fields):
    """A thought, or a command in the game's words (ReAct)."""

    kind: Literal["think", "act"]
    text: str


class _ShortMove(Move):
    text: Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,400}$")]


PDDL = Form("pddl", Pddl, '{"df": "...", "pf": "..."}', grammar="syntax")
DOMAIN = Form("domain", DomainFile, '{"df": "..."}', grammar="domain_syntax")
PROBLEM = Form("problem", Problem, '{"pf": "..."}', grammar="problem_syntax")
COMMAND = Form("command", Command, '{"action": "..."}', patterns=_OneCommand)
MOVE = Form(
    "move", Move, '{"kind": "think" or "act", "text": "..."}', patterns=_ShortMove
)
EDIT = Form(
    "edit",
    Edit,
    '{"objects": {"add": [], "replace": {}, "delete": []}, '
    '"init": {"add": [], "replace": {}, "delete": []}}',
    patterns=_SyntaxEdit,
)
SEEN = Form("seen", Seen, '{"closed": ["..."], "items": ["..."]}', patterns=_ShortSeen)
GOALS = Form("goals", Goals, '{"goals": ["...", "..."]}', patterns=_ShortGoals)
PARALLEL_GOALS = Form(
    "goals", Goals, '{"goals": ["...", "also ...", "..."]}', patterns=_ShortGoals
)
"""The same, in which a goal that begins with "also" may come before the one that it
follows.
"""
TEXT = Form("text", Text, '{"text": "..."}', patterns=_Sentences)


class Choice(Fields):
    """The number of one of the offered options, and the reason for choosing it."""

    reason: str
    number: int


@functools.cache
def choice(last: int) -> Form[Choice]:
    """Returns the form of a choice from 0 to `last`. An answer with another number has
    the fault "wrong_keys".
    """

    class Numbered(Choice):
        number: Annotated[int, Field(ge=0, le=last)]

    class Brief(Numbered):
        reason: Annotated[str, Field(max_length=400)]

    return Form(
        "choice",
        Numbered,
        f'{{"reason": "...", "number": N}} with N from 0 to {last}',
        patterns=Brief,
        may_be_blank=frozenset({"reason"}),
    )


WITH_PDDL = frozenset({"pddl", "domain", "problem", "edit"})
"""The names of the forms whose answers contain PDDL."""

FORMS = (PDDL, DOMAIN, PROBLEM, COMMAND, MOVE, EDIT, SEEN, GOALS, TEXT, choice(0))
"""One form of each name. All forms of `choice` share the name "choice", and the two
forms of a plan the name "goals".
"""
