"""What the papers report of a system, for our cells and for others' systems: numbers, side by side
and never added up.

Others' numbers are in published.yaml, each with its source and with whether trivial games count in
our rows that are shown with it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from pddlego_local.core.record.counting import counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.arms import Arm, arms_of
from pddlego_local.report.cells import LABELS, CellRecord, varying_options
from pddlego_local.report.published import (
    HERE,
    Result,
    Trivial,
    published,
    reported,
    trivial_rules,
)
from pddlego_local.report.statistics.cell import measure
from pddlego_local.report.statistics.rates import Mean, Rate

COMPACT = "compact"
REPORTED = {field.name for field in fields(Result)}


def paper_results(cells: Sequence[CellRecord]) -> list[Result]:
    """Ours, and then those that others reported of the same environments and methods."""
    ours = list(_ours(cells))
    played = {(result.environment.removesuffix("_real"), result.method) for result in ours}
    return ours + [one for one in published() if (one.environment, one.method) in played]


def _ours(cells: Sequence[CellRecord]) -> Iterator[Result]:
    """Arms that differ only in the kind of their games are one system, as in the papers."""
    varying = varying_options(cells)
    systems: dict[str, list[Arm]] = {}
    for arm in arms_of(cells):
        key = json.dumps([arm.first.labels["environment"], arm.settings], sort_keys=True)
        systems.setdefault(key, []).append(arm)
    for arms in sorted(systems.values(), key=_place):
        labels = arms[0].first.labels
        for trivial in trivial_rules(labels["environment"], labels["method"]):
            yield from _system(arms, varying, trivial)


def _system(arms: Sequence[Arm], varying: set[str], trivial: Trivial) -> Iterator[Result]:
    """On all games, and on each group of them."""
    named = _named(arms, varying, trivial)
    missing = sum(cell.missing for arm in arms for cell in arm.cells)
    kept = [(arm.games, row) for arm in arms for row in _counted(arm, trivial)]
    yield _result(kept, missing=missing, **named)
    kinds = {(arm.games, row.game): row.task_type for arm in arms for row in arm.rows.values()}
    labels = arms[0].first.labels
    named_groups = {one.group for one in reported(labels["environment"], labels["method"])}
    groups: dict[str, list[tuple[str, EpisodeRow]]] = {}
    for games, row in kept:
        kind = row.task_type or kinds[games, row.game]
        group = kind if kind in named_groups else arms[0].first.group(kind)
        groups.setdefault(group, []).append((games, row))
    for group, rows in groups.items():
        yield _result(rows, group=group, **named)


def _place(arms: Sequence[Arm]) -> tuple[object, ...]:
    """By label, rungs as on the ladder."""
    cell = arms[0].first
    return (*(cell.labels[label] for label in LABELS[:3]), cell.rung)


def _counted(arm: Arm, trivial: Trivial) -> list[EpisodeRow]:
    return counted(list(arm.rows.values()), with_trivial=trivial == "counted").counted


def _named(arms: Sequence[Arm], varying: set[str], trivial: Trivial) -> dict[str, str]:
    first = arms[0].first
    shown = [
        f"{key.split('.')[-1]} {value}"
        for key, value in arms[0].settings.items()
        if key in varying and key not in ("method.variant", "method.domains")
    ]
    variant = first.options.get("method.variant", "")
    words = ["in compact words"] * (variant == COMPACT)
    rooms = {arm.first.options.get("environment.rooms") for arm in arms} - {None}
    asked = {(arm.games, key[0]) for arm in arms for key in arm.requested}
    solved = {
        (arm.games, row.game)
        for arm in arms
        for row in counted(list(arm.rows.values())).apart["trivial"]
    }
    games = f"{len(asked if trivial == 'counted' else asked - solved)} games"
    if solved:
        games += f" ({len(solved)} trivial {trivial})"
    sizes = ", ".join(sorted(map(str, rooms), key=int))
    return {
        "source": HERE,
        "environment": first.labels["environment"],
        "games": f"rooms {sizes}, {games}" if rooms else games,
        "budget": first.budget,
        "method": first.labels["method"],
        "model": first.labels["model"],
        "decoding": ", ".join([arms[0].rung, *shown, *words]),
        "variant": variant,
        "domain": "" if first.options.get("method.domains", "None") == "None" else "fixed",
    }


def _result(kept: Sequence[tuple[str, EpisodeRow]], **named: Any) -> Result:
    """`kept` are rows that count, each with what makes its games."""
    parts: dict[str, list[EpisodeRow]] = {}
    for games, row in kept:
        parts.setdefault(games, []).append(row)
    found = measure(*parts.values())
    success = found.success
    low, high = success.interval if success.n else (None, None)
    counts = {name: _number(value) for name, value in vars(found).items() if name in REPORTED}
    return Result(
        **counts | named,
        n=success.n,
        lowest=success.share,
        highest=success.share,
        interval_low=low,
        interval_high=high,
    )


def _number(value: Any) -> Any:
    return value.k if isinstance(value, Rate) else value.mean if isinstance(value, Mean) else value
