"""The keys of `conf/config.yaml` outside the groups: which games, how they are played, and which
comparisons an experiment declares.

`run` and `compare` are no part of a cell's identity: they may change while cells are continued.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, get_args

import pydantic
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator

from pddlego_local.core.record.run_record import MOST_EPISODES, parse_games
from pddlego_local.decoding.settings import Decoding

FACTORS = ("method", "model", "environment.budget")
OPTIONS_OF = ("decoding.", "method.", "model.", "planner.")
_STRICT = ConfigDict(extra="forbid")


def _factor(name: str) -> str:
    group, _, option = name.partition(".")
    known = [field.name for field in fields(Decoding)]
    if group == "decoding" and option not in known:
        raise ValueError(f"decoding has no such option; it has {', '.join(known)}")
    if name not in FACTORS and not (name.startswith(OPTIONS_OF) and option):
        raise ValueError(f"write {', '.join(FACTORS)}, or an option such as decoding.rung")
    return name


def choices_of(factor: str) -> tuple[str, ...]:
    """The values of an option of `Decoding` that has a list of them, in its order."""
    kinds = {f"decoding.{field.name}": field.type for field in fields(Decoding)}
    return tuple(choice for choice in get_args(kinds.get(factor)) if isinstance(choice, str))


def _pairs(options: object) -> object:
    return tuple(options.items()) if isinstance(options, Mapping) else options


_Option = tuple[Annotated[str, AfterValidator(_factor)], Annotated[str, BeforeValidator(str)]]
Where = Annotated[tuple[_Option, ...], BeforeValidator(_pairs)]
"""Options and their values, given as a mapping."""


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Declared:
    """Arms that differ in nothing but `factor`, an option, are compared: the one with the value
    `base` with each other one, or with that of the value `other` alone. Without a base every two
    are. Values are written as reports name them: "free", "qwen3_8b", "2". Of options in `where`,
    both arms have these values, if they have such an option at all.

    What is `primary` is tested apart from the rest (`report.comparisons`).
    """

    factor: Annotated[str, AfterValidator(_factor)]
    base: Annotated[str, BeforeValidator(str)] = ""
    other: Annotated[str, BeforeValidator(str)] = ""
    where: Where = ()
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
        values = "every two values"
        if self.base:
            values = f"{self.base} against {self.other or 'each other value'}"
        where = " and ".join(f"{option} is {value}" for option, value in self.where)
        return f"{self.factor}, {values}" + (f", where {where}" if where else "")


Comparisons = tuple[Declared, ...]

BY_DEFAULT: Comparisons = (Declared(factor="decoding.rung", base="free"),)
"""Where nothing is declared: each rung with a grammar against free."""


def _each_once(comparisons: Comparisons | None) -> Comparisons | None:
    for words, times in Counter(map(str, comparisons or ())).items():
        if times > 1:
            raise ValueError(f"{words}, stands here twice")
    return comparisons


Compare = Annotated[Comparisons | None, AfterValidator(_each_once)]
"""Of `compare`: None where an experiment declares none."""
COMPARE: pydantic.TypeAdapter[Comparisons | None] = pydantic.TypeAdapter(Compare)


def _path(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("no path holds a NUL")
    return path


def _folder(name: str) -> str:
    """What can be the name of one folder, and is not hidden."""
    if not re.fullmatch(r"[\w-][\w.-]*", name) or len(name.encode()) > 100:
        raise ValueError(
            "write letters, digits, '_', '-' and '.', which does not come first; at most 100 bytes"
        )
    return name


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class RunSettings:
    """How a cell is carried out; nothing here changes its results.

    `retries` is how often an episode is tried again after an infrastructure fault. After
    `max_hours` from the command's start, None for no limit, no further episode begins.
    """

    out: Annotated[Path, AfterValidator(_path)]
    concurrency: Annotated[int, Field(ge=1, le=4096)]
    retries: Annotated[int, Field(ge=0)]
    max_hours: Annotated[float, Field(gt=0)] | None


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Settings:
    """The keys of `conf/config.yaml` outside the groups. `games` are the games' seeds."""

    name: Annotated[str, AfterValidator(_folder)]
    seed: Annotated[int, Field(ge=0)]
    games: Annotated[tuple[int, ...], BeforeValidator(parse_games)]
    trials: Annotated[int, Field(ge=1, le=MOST_EPISODES)]
    run: RunSettings
    compare: Compare = None

    def __post_init__(self) -> None:
        if len(self.games) * self.trials > MOST_EPISODES:
            raise ValueError(
                f"{len(self.games):,} games and trials={self.trials}: a cell has at most "
                f"{MOST_EPISODES:,} episodes; ask for fewer"
            )
