"""What the papers report of a system, of our cells and of others' systems: numbers, side by side
and never added up.

Others' numbers are in published.yaml, each with its source. Trivial games count in both.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from pddlego_local.metrics.cell import measure
from pddlego_local.metrics.counting import counted
from pddlego_local.metrics.rates import Rate
from pddlego_local.report.arms import Arm, arms_of
from pddlego_local.report.cells import LABELS, CellRecord, varying_options
from pddlego_local.rows import EpisodeRow

COMPACT = "compact"
HERE = "here"
PUBLISHED = Path(__file__).with_name("published.yaml")


@dataclass(frozen=True, kw_only=True)
class Result:
    """One system on one set of games. `source` is "here", or who reported it and where.

    `variant` is the prompt's, "" where a method has one alone; `domain` is "fixed" where it was,
    "seed" where the model began with one; `group` is a kind of games, "" for all. Success is a
    share, from the lowest to the highest reported; `interval` is ours, of 95 %. What is not known
    is None. The rest is as in `metrics.cell.Measures`; steps and actions are means.
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

    @property
    def ours(self) -> bool:
        return self.source == HERE


def paper_results(cells: Sequence[CellRecord]) -> list[Result]:
    """Ours, and then those that others reported of the same environments and methods."""
    ours = list(_ours(cells))
    played = {(result.environment.removesuffix("_real"), result.method) for result in ours}
    return ours + [one for one in published() if (one.environment, one.method) in played]


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class _Table:
    source: str
    where: str
    environment: str
    games: str
    budget: str
    results: list[dict[str, Any]]


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class _Published:
    sources: dict[str, str]
    tables: list[_Table]


@cache
def published() -> tuple[Result, ...]:
    """All of published.yaml. Raises ValueError or TypeError for an entry that it cannot mean."""
    file = _read()
    if unknown := {table.source for table in file.tables} - file.sources.keys():
        raise ValueError(f"{PUBLISHED}: no source is named {sorted(unknown)[0]!r}")
    return tuple(
        _reported(f"{table.source} {table.where}".strip(), table, entry)
        for table in file.tables
        for entry in table.results
    )


def sources(results: Sequence[Result]) -> list[str]:
    """What the names of the sources stand for, of those that some result has."""
    used = {result.source for result in results}
    return [
        f"{name}: {title}"
        for name, title in _read().sources.items()
        if any(
            table.source == name and f"{name} {table.where}".strip() in used
            for table in _read().tables
        )
    ]


@cache
def _read() -> _Published:
    text = PUBLISHED.read_text(encoding="utf-8")
    return TypeAdapter(_Published).validate_python(yaml.safe_load(text))


def _reported(source: str, table: _Table, entry: Mapping[str, Any]) -> Result:
    success = entry["success"]
    lowest, highest = success if isinstance(success, list) else (success, success)
    return Result(
        source=source,
        environment=table.environment,
        games=table.games,
        budget=table.budget,
        lowest=lowest / 100,
        highest=highest / 100,
        **{key: value for key, value in entry.items() if key != "success"},
    )


def _ours(cells: Sequence[CellRecord]) -> Iterator[Result]:
    """Arms that differ only in the kind of their games are one system, as in the papers."""
    varying = varying_options(cells)
    systems: dict[str, list[Arm]] = {}
    for arm in arms_of(cells):
        key = json.dumps([arm.first.labels["environment"], arm.settings], sort_keys=True)
        systems.setdefault(key, []).append(arm)
    for arms in sorted(systems.values(), key=_place):
        named = _named(arms, varying)
        asked = [cell for arm in arms for cell in arm.cells]
        missing = sum(cell.missing for cell in asked)
        kept = [(arm.games, row) for arm in arms for row in _counted(arm)]
        yield _result(kept, missing=missing, **named)
        kinds = {(arm.games, row.game): row.task_type for arm in arms for row in arm.rows.values()}
        groups: dict[str, list[tuple[str, EpisodeRow]]] = {}
        for games, row in kept:
            kind = row.task_type or kinds[games, row.game]
            groups.setdefault(arms[0].first.group(kind), []).append((games, row))
        for group, rows in groups.items():
            yield _result(rows, group=group, **named)


def _place(arms: Sequence[Arm]) -> tuple[object, ...]:
    """By label, rungs as on the ladder."""
    cell = arms[0].first
    return (*(cell.labels[label] for label in LABELS[:3]), cell.rung)


def _counted(arm: Arm) -> list[EpisodeRow]:
    return counted(list(arm.rows.values()), with_trivial=True).counted


def _named(arms: Sequence[Arm], varying: set[str]) -> dict[str, str]:
    first = arms[0].first
    shown = [
        f"{key.split('.')[-1]} {value}"
        for key, value in arms[0].settings.items()
        if key in varying and key not in ("method.variant", "method.domains")
    ]
    variant = first.options.get("method.variant", "")
    words = ["in compact words"] * (variant == COMPACT)
    rooms = {arm.first.options.get("environment.rooms") for arm in arms} - {None}
    games = len({(arm.games, key[0]) for arm in arms for key in arm.asked})
    sizes = ", ".join(sorted(map(str, rooms), key=int))
    return {
        "source": HERE,
        "environment": first.labels["environment"],
        "games": f"rooms {sizes}, {games} games" if rooms else f"{games} games",
        "budget": first.budget,
        "method": first.labels["method"],
        "model": first.labels["model"],
        "decoding": ", ".join([arms[0].rung, *shown, *words]),
        "variant": variant,
        "domain": "" if first.options.get("method.domains", "None") == "None" else "fixed",
    }


def _result(kept: Sequence[tuple[str, EpisodeRow]], **named: Any) -> Result:
    """`kept` are rows that count, each with what makes its games."""
    found = measure([row for _, row in kept])
    games = len({(games, row.game) for games, row in kept})
    success = Rate(found.success.k, found.success.n, games)
    low, high = success.interval if success.n else (None, None)
    return Result(
        **named,
        n=success.n,
        lowest=success.share,
        highest=success.share,
        interval_low=low,
        interval_high=high,
        solver_errors=found.solver_errors,
        solver_errors_fixed=found.solver_errors_fixed.k,
        solver_aborts=found.solver_aborts,
        simulation_errors=found.simulation_errors,
        simulation_errors_fixed=found.simulation_errors_fixed.k,
        simulation_aborts=found.simulation_aborts,
        steps_on_success=found.steps_on_success.mean,
        steps_on_failure=found.steps_on_failure.mean,
        actions=found.actions.mean,
    )
