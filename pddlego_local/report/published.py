"""What others reported, as published.yaml has it, each number with its source; and what one result
is, ours or another's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked

HERE = "here"
PUBLISHED = Path(__file__).with_name("published.yaml")

Trivial = Literal["counted", "left out"]
"""What becomes of trivial games in our rows that are shown with a source."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One system on one set of games. `source` is "here", or who reported it and where.

    `variant` is the prompt's, "" where a method has one alone; `domain` is "fixed" where it was,
    "seed" where the model began with one; `group` is a kind of games, "" for all. Success is a
    share, from the lowest to the highest reported; `interval` is ours, of 95 %. What is not known
    is None. The rest is as in `report.statistics.cell.Measures`; steps, actions and refused ones
    are means.
    """

    source: str
    environment: str
    games: str
    budget: str
    method: str
    model: str
    decoding: str = ""
    variant: str = ""
    domain: str = ""
    group: str = ""
    n: int | None = None
    missing: int = 0
    lowest: float | None = None
    highest: float | None = None
    interval_low: float | None = None
    interval_high: float | None = None
    solver_errors: int | None = None
    solver_errors_fixed: int | None = None
    solver_aborts: int | None = None
    simulation_errors: int | None = None
    simulation_errors_fixed: int | None = None
    simulation_aborts: int | None = None
    steps_on_success: float | None = None
    steps_on_failure: float | None = None
    actions: float | None = None
    pddlego_steps_on_success: float | None = None
    refused_on_success: float | None = None

    @property
    def ours(self) -> bool:
        return self.source == HERE


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class _Table:
    source: str
    where: str
    environment: str
    games: str
    budget: str
    results: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.source} {self.where}".strip()


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class _Source:
    title: str
    trivial: Trivial


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class _Published:
    sources: dict[str, _Source]
    tables: list[_Table]


@cache
def _read() -> _Published:
    """Raises ValueError for a table whose source is not listed."""
    text = PUBLISHED.read_text(encoding="utf-8")
    file = TypeAdapter(_Published).validate_python(yaml.safe_load(text))
    if unknown := {table.source for table in file.tables} - file.sources.keys():
        raise ValueError(f"{PUBLISHED}: no source is named {sorted(unknown)[0]!r}")
    return file


@cache
def published() -> tuple[Result, ...]:
    """All of published.yaml. Raises ValueError or TypeError for an entry that it cannot mean."""
    return tuple(_result(table, entry) for table in _read().tables for entry in table.results)


def _result(table: _Table, entry: Mapping[str, Any]) -> Result:
    success = entry["success"] if "success" in entry else 100 * entry["won"] / entry["n"]
    lowest, highest = success if isinstance(success, list) else (success, success)
    return Result(
        source=table.name,
        environment=table.environment,
        games=table.games,
        budget=table.budget,
        lowest=lowest / 100,
        highest=highest / 100,
        **{key: value for key, value in entry.items() if key not in ("success", "won")},
    )


def sources(results: Sequence[Result]) -> list[str]:
    """What the names of the sources stand for, of those that some result has."""
    shown = {result.source for result in results}
    used = {table.source for table in _read().tables if table.name in shown}
    return [f"{name}: {one.title}" for name, one in _read().sources.items() if name in used]


def reported(environment: str, method: str) -> list[Result]:
    """What others reported of a method in an environment; the real ALFWorld's games are those of
    `alfworld` too."""
    system = environment.removesuffix("_real"), method
    return [one for one in published() if (one.environment, one.method) == system]


def trivial_rules(environment: str, method: str) -> list[Trivial]:
    """How the sources of what is reported want trivial games counted in ours; left out, as
    everywhere else, where there are none."""
    names = {one.source for one in reported(environment, method)}
    used = {table.source for table in _read().tables if table.name in names}
    return sorted({_read().sources[name].trivial for name in used}) or ["left out"]
