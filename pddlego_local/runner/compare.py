"""What an experiment asks: the comparisons of `compare` in its YAML.

It is no part of a cell's identity: it may change while cells are continued.
"""

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any, get_args

import pydantic
from pydantic import AfterValidator, BeforeValidator, ConfigDict, field_validator

from pddlego_local.decoding import Decoding

FACTORS = ("method", "model", "environment.budget")
GROUPS = ("decoding.", "method.", "model.", "planner.")


def _factor(name: str) -> str:
    group, _, option = name.partition(".")
    known = [field.name for field in fields(Decoding)]
    if group == "decoding" and option not in known:
        raise ValueError(f"decoding has no such option; it has {', '.join(known)}")
    if name not in FACTORS and not (name.startswith(GROUPS) and option):
        raise ValueError(f"write {', '.join(FACTORS)}, or an option such as decoding.rung")
    return name


def choices_of(factor: str) -> tuple[str, ...]:
    """The values of an option of `Decoding` that has a list of them, in its order."""
    kinds = {f"decoding.{field.name}": field.type for field in fields(Decoding)}
    return tuple(choice for choice in get_args(kinds.get(factor)) if isinstance(choice, str))


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Declared:
    """Arms that differ in nothing but `factor`, an option, are compared: the one with the value
    `base` with each other one, or with that of the value `other` alone. Without a base every two
    are. Values are written as reports name them: "free", "qwen3_8b", "2".

    What is `primary` is tested apart from the rest (`report.comparisons`).
    """

    factor: Annotated[str, AfterValidator(_factor)]
    base: Annotated[str, BeforeValidator(str)] = ""
    other: Annotated[str, BeforeValidator(str)] = ""
    primary: bool = False

    @field_validator("base", "other")
    @classmethod
    def _value(cls, value: str, info: pydantic.ValidationInfo) -> str:
        choices = choices_of(info.data.get("factor", ""))
        if info.field_name == "other" and value and value == info.data.get("base"):
            raise ValueError("write another value than that of base")
        if info.field_name == "other" and value and not info.data.get("base"):
            raise ValueError("write base too")
        if value and choices and re.split(r" \+ |, ", value)[0] not in choices:
            raise ValueError(f"choose one of {', '.join(choices)}")
        return value

    def __str__(self) -> str:
        """For example "decoding.rung, free against grounded"."""
        if not self.base:
            return f"{self.factor}, every two values"
        return f"{self.factor}, {self.base} against {self.other or 'each other value'}"


Asked = tuple[Declared, ...]

BY_DEFAULT: Asked = (Declared(factor="decoding.rung", base="free"),)
"""Where nothing is declared: each rung with a grammar against free."""


def each_once(asked: Asked | None) -> Asked | None:
    """Raises ValueError where a comparison stands twice."""
    seen = [(one.factor, one.base, one.other) for one in asked or ()]
    for one in seen:
        if seen.count(one) > 1:
            raise ValueError(f"{' '.join(filter(None, one))} stands here twice")
    return asked


Compare = Annotated[Asked | None, AfterValidator(each_once)]
"""Of `compare`: None where an experiment declares none."""

_COMPARE: pydantic.TypeAdapter[Asked | None] = pydantic.TypeAdapter(Compare)


def declared_in(recorded: Any) -> Asked | None:
    """What a record holds. Raises ValueError."""
    return _COMPARE.validate_python(recorded)


def asked_for(words: Sequence[str]) -> Asked:
    """Of --compare: "decoding.rung", "decoding.rung=free" or "decoding.rung=free:grounded". Raises
    ValueError."""
    entries = []
    for word in words:
        factor, _, values = word.partition("=")
        base, _, other = values.partition(":")
        entries.append({"factor": factor, "base": base, "other": other})
    return declared_in(entries) or ()
