"""The keys of `conf/config.yaml` outside the groups: the games, how they are played,
and the comparisons that an experiment declares.

`run` and `compare` are not part of a cell's identity, so they may change when a cell is
continued.
"""

import os.path
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

import pydantic
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from pddlego_local.core.record.run_record import MOST_EPISODES, parse_games
from pddlego_local.decoding.settings import Decoding

ARM = "arm"
"""The factor of arms that differ in any number of options: their files in conf/arm."""
FACTORS = ("method", "model", "environment.budget", ARM)
OPTIONS_OF = ("decoding.", "method.", "model.", "planner.")
_STRICT = ConfigDict(extra="forbid")


RECORDED = "recorded"
"""The context in which comparisons of a record are read: they may name options that
only the version that recorded them had.
"""


def _factor(name: str, info: ValidationInfo) -> str:
    group, _, option = name.partition(".")
    known = [field.name for field in fields(Decoding)]
    if group == "decoding" and option not in known and info.context != RECORDED:
        raise ValueError(
            f"decoding has no such option; its options are {', '.join(known)}"
        )
    is_option = bool(option) and name.startswith(OPTIONS_OF)
    if name not in FACTORS and not is_option:
        raise ValueError(
            f"write {', '.join(FACTORS)}, or an option such as decoding.rung"
        )
    return name


def choices_of(factor: str) -> tuple[str, ...]:
    """Returns the allowed values of an option of `Decoding` in order, () if it has no
    list.
    """
    for option in fields(Decoding):
        if factor == f"decoding.{option.name}":
            choices = get_args(option.type)
            return tuple(choice for choice in choices if isinstance(choice, str))
    return ()


_Option = tuple[
    Annotated[str, AfterValidator(_factor)], Annotated[str, BeforeValidator(str)]
]


def _as_pairs(given: object) -> object:
    if isinstance(given, Mapping):
        return tuple(given.items())
    return given


Outcome = Literal[
    "success",
    "accepted",
    "plan",
    "valid",
    "equivalent",
    "equivalent_but_for_idle",
]
"""What a comparison compares (`report.outcomes`)."""
BY_GOLD: frozenset[Outcome] = frozenset(
    {"valid", "equivalent", "equivalent_but_for_idle"}
)
"""The outcomes that only a gold file decides."""

Where = Annotated[tuple[_Option, ...], BeforeValidator(_as_pairs)]
"""Options and their values, given as a mapping."""


class Asked(NamedTuple):
    """What a comparison compares, and its margin in points (`Declared`)."""

    outcome: Outcome = "success"
    margin_points: float | None = None


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Declared:
    """A declared comparison of arms that differ only in the option `factor`.

    The arm with the value `base` is compared with every other arm, or only with the arm
    with the value `other`. Without `base`, every pair of arms is compared. Values are
    written as reports name them: "free", "qwen3_8b", "2". For each option in `where`,
    both arms have the given value, if they have the option at all.

    `outcome` is what is compared. With `margin_points`, in percentage points, the
    comparison can also end with the verdict that the arms are as good as each other
    within this margin.

    `primary` comparisons are tested separately from the others (`report.comparisons`).
    """

    factor: Annotated[str, AfterValidator(_factor)]
    base: Annotated[str, BeforeValidator(str)] = ""
    other: Annotated[str, BeforeValidator(str)] = ""
    where: Where = ()
    outcome: Outcome = "success"
    margin_points: Annotated[float, Field(gt=0, le=100)] | None = None
    primary: bool = False

    @field_validator("base", "other")
    @classmethod
    def _value(cls, value: str, info: ValidationInfo) -> str:
        if not value:
            return value
        if info.field_name == "other":
            base = info.data.get("base")
            if value == base:
                raise ValueError("write a value other than that of base")
            if not base:
                raise ValueError("write base too")
        choices = choices_of(info.data.get("factor", ""))
        first_word = re.split(r" \+ |, ", value)[
            0
        ]  # reports add to it: "typed + draft"
        if choices and first_word not in choices:
            raise ValueError(f"choose one of {', '.join(choices)}")
        return value

    def __str__(self) -> str:
        """Returns for example "decoding.rung, free against grounded"."""
        words = f"{self.factor}, every two values"
        if self.base:
            other = self.other or "each other value"
            words = f"{self.factor}, {self.base} against {other}"
        if self.where:
            conditions = [f"{option} is {value}" for option, value in self.where]
            words += f", where {' and '.join(conditions)}"
        if self.outcome != "success":
            words += f", by {self.outcome.replace('_', ' ')}"
        if self.margin_points is not None:
            words += f", margin {self.margin_points:g} points"
        return words


Comparisons = tuple[Declared, ...]

BY_DEFAULT: Comparisons = (Declared(factor="decoding.rung", base="free"),)
"""The comparisons if none are declared: each rung with a grammar against free."""


def _each_once(comparisons: Comparisons | None) -> Comparisons | None:
    words = [str(comparison) for comparison in comparisons or ()]
    for comparison, times in Counter(words).items():
        if times > 1:
            raise ValueError(f"{comparison}, is declared twice")
    return comparisons


Compare = Annotated[Comparisons | None, AfterValidator(_each_once)]
"""The type of `compare`: None if an experiment declares no comparisons."""
COMPARE: pydantic.TypeAdapter[Comparisons | None] = pydantic.TypeAdapter(Compare)


def _path(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a path cannot contain a NUL character")
    return Path(os.path.expanduser(path))  # noqa: PTH111 - it raises for an unknown user


def _folder(name: str) -> str:
    """Checks that `name` can be the name of a folder that is not hidden."""
    is_too_long = len(name.encode()) > 100
    if is_too_long or not re.fullmatch(r"[\w-][\w.-]*", name):
        raise ValueError(
            "use letters, digits, '_', '-' and '.' (not as the first), 100 bytes at"
            " most"
        )
    return name


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class RunSettings:
    """How a cell is played; nothing here changes its results.

    `out` is the folder for records. `concurrency` is the number of episodes played at
    the same time. `retries` is how often an episode is tried again after an
    infrastructure fault. No episode begins later than `max_hours` hours after the
    command's start (None: no limit).
    """

    out: Annotated[Path, AfterValidator(_path)]
    concurrency: Annotated[int, Field(ge=1, le=4096)]
    retries: Annotated[int, Field(ge=0)]
    max_hours: Annotated[float, Field(gt=0)] | None


def _listed(names: object) -> object:
    return [names] if isinstance(names, str) else names


Fits = dict[
    Literal["environment", "method"], Annotated[list[str], BeforeValidator(_listed)]
]
"""The environments and methods, by the names of their modules or folders, that an arm
fits.
"""


@pydantic.dataclasses.dataclass(config=_STRICT, kw_only=True, frozen=True)
class Settings:
    """The keys of `conf/config.yaml` outside the groups.

    `name` is the experiment, and the name of its folder. `seed` is the run's seed.
    `games` are the games' seeds. `trials` is the number of episodes per game.
    `looked_at` says which results had been seen before the comparisons were declared,
    and `setting_from` in which games the setting was chosen; reports print both.
    `arm_fits` is set by an arm that fits only certain environments or methods.
    """

    name: Annotated[str, AfterValidator(_folder)]
    seed: Annotated[int, Field(ge=0)]
    games: Annotated[tuple[int, ...], BeforeValidator(parse_games)]
    trials: Annotated[int, Field(ge=1, le=MOST_EPISODES)]
    run: RunSettings
    compare: Compare = None
    looked_at: str | None = None
    setting_from: str | None = None
    arm_fits: Fits = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        games = len(self.games)
        if games * self.trials > MOST_EPISODES:
            raise ValueError(
                f"{games:,} games and trials={self.trials}: a cell has at"
                f" most {MOST_EPISODES:,} episodes; request fewer"
            )
