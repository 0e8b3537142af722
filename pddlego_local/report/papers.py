"""The numbers that the papers report, for our cells and for the systems of others. They
are shown side by side and never combined.

published.yaml has the numbers of others with their sources. It also says for each
source whether our rows that are shown beside it include trivial games.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.counting import TRIVIAL, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import table
from pddlego_local.report.arms import Arm, arms_of
from pddlego_local.report.cells import LABELS, CellRecord, by_number, varying_options
from pddlego_local.report.numbers import measure
from pddlego_local.report.statistics.rates import Mean, Rate
from pddlego_local.report.text import (
    TextRow,
    interval,
    markdown,
    notes_of,
    number,
    without_empty,
)

HERE = "here"
COMPACT = "compact"
WHOSE = ("source", "environment", "games", "budget", "model", "decoding")


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of one system on one set of games.

    `source` is "here", or who reported the result and where. `variant` is the variant
    of the prompt, "" if the method has only one. `domain` is "fixed" if the domain file
    was fixed, and "seed" if the model was given one to start from. `group` is a kind of
    games, "" for all. Success is a share, from the `lowest` to the `highest` that was
    reported. `interval_low` and `interval_high` are the ends of our 95 % interval.
    Unknown numbers are None. The other fields are as in `report.numbers.Measures`;
    steps, actions and refused commands are means.
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


@cache
def _file() -> dict[str, Any]:
    """The contents of published.yaml."""
    return dict(table(__file__, "published.yaml"))


def _name(table: Mapping[str, str]) -> str:
    return f"{table['source']} {table['where']}".strip()


@cache
def published() -> tuple[Result, ...]:
    """Returns all results in published.yaml."""
    return tuple(
        _read(table, **entry)
        for table in _file()["tables"]
        for entry in table["results"]
    )


def _read(
    table: Mapping[str, str], success: Any = None, won: int = 0, **entry: Any
) -> Result:
    """`success` is in percent, one number or a range. Without it, success is `won` of
    `n`.
    """
    success = 100 * won / entry["n"] if success is None else success
    lowest, highest = success if isinstance(success, list) else (success, success)
    entry |= {name: table[name] for name in ("environment", "games", "budget")}
    return Result(
        source=_name(table), lowest=lowest / 100, highest=highest / 100, **entry
    )


def _sources(results: Iterable[Result]) -> dict[str, dict[str, str]]:
    """Returns the sources of these results."""
    shown = {result.source for result in results}
    used = {table["source"] for table in _file()["tables"] if _name(table) in shown}
    return {name: source for name, source in _file()["sources"].items() if name in used}


def comparable(results: Sequence[Result]) -> list[Result]:
    """Returns our results, and the results of others for the same environments and
    methods. The real ALFWorld counts as `alfworld`.
    """
    played = {
        (one.environment.removesuffix("_real"), one.method)
        for one in results
        if one.ours
    }
    return [
        one for one in results if one.ours or (one.environment, one.method) in played
    ]


def paper_results(cells: Sequence[CellRecord]) -> list[Result]:
    """Returns the results of these cells, then those of others for the same
    environments and methods.
    """
    return comparable([*_ours(cells), *published()])


def _ours(cells: Sequence[CellRecord]) -> Iterator[Result]:
    """Yields our results. Arms that differ only in the kind of games are one system, as
    in the papers.
    """
    varying = varying_options(cells)
    systems = grouped(
        (
            json.dumps([arm.first.labels["environment"], arm.settings], sort_keys=True),
            arm,
        )
        for arm in arms_of(cells)
    )
    for arms in sorted(systems.values(), key=_place):
        labels = arms[0].first.labels
        system = labels["environment"].removesuffix("_real"), labels["method"]
        reported = [
            one for one in published() if (one.environment, one.method) == system
        ]
        # How trivial games are treated. Without published results they are left out, as
        # elsewhere.
        rules = {source["trivial"] for source in _sources(reported).values()} or {
            "left out"
        }
        for trivial in sorted(rules):
            yield from _system(arms, varying, trivial, {one.group for one in reported})


def _system(
    arms: Sequence[Arm], varying: set[str], trivial: str, named_groups: set[str]
) -> Iterator[Result]:
    """Yields the results on all games, and on each group of games."""
    missing = sum(cell.missing for arm in arms for cell in arm.cells)
    also = TRIVIAL if trivial == "counted" else ()
    found = [(arm.games, counted([*arm.rows.values()], also=also)) for arm in arms]
    kept = [(games, row) for games, rows in found for row in rows.counted]
    solved = {
        (games, row.game) for games, rows in found for row in rows.apart["trivial"]
    }
    named = _named(arms, varying, solved, trivial)
    yield _result(kept, missing=missing, **named)
    known = [
        (arm.games, row) for arm in arms for row in arm.rows.values() if row.task_type
    ]
    kinds = {(games, row.game): row.task_type for games, row in known}
    groups = grouped(
        (kind if kind in named_groups else arms[0].first.group(kind), (games, row))
        for games, row in kept
        if (kind := kinds.get((games, row.game)))
    )
    for group, rows_of_group in groups.items():
        yield _result(rows_of_group, group=group, **named)


def _place(arms: Sequence[Arm]) -> tuple[object, ...]:
    """A key to sort by: labels, with rungs in the order of the ladder."""
    cell = arms[0].first
    return (*(cell.labels[label] for label in LABELS[:3]), cell.rung)


def _named(
    arms: Sequence[Arm], varying: set[str], solved: set[tuple[str, int]], trivial: str
) -> dict[str, str]:
    """The fields that name a result. `solved` are the games that are solved at
    reset.
    """
    first, labels = arms[0].first, arms[0].first.labels
    shown = [
        f"{key.split('.')[-1]} {value}"
        for key, value in arms[0].settings.items()
        if key in varying and key not in ("method.variant", "method.domains")
    ]
    variant = first.options.get("method.variant", "")
    words = ["compact prompt"] * (variant == COMPACT)
    sizes = [arm.first.options.get("environment.rooms", "") for arm in arms]
    played = {(arm.games, key[0]) for arm in arms for key in arm.requested}
    games = f"{len(played if trivial == 'counted' else played - solved)} games"
    if solved:
        games += f" ({len(solved)} trivial {trivial})"
    if rooms := sorted(set(filter(None, sizes)), key=int):
        games = f"rooms {', '.join(rooms)}, {games}"
    return {
        "source": HERE,
        "environment": labels["environment"],
        "games": games,
        "budget": first.budget,
        "method": labels["method"],
        "model": labels["model"],
        "decoding": ", ".join([arms[0].rung, *shown, *words]),
        "variant": variant,
        "domain": ""
        if first.options.get("method.domains", "None") == "None"
        else "fixed",
    }


def _result(kept: Sequence[tuple[str, EpisodeRow]], **named: Any) -> Result:
    """`kept` are the scored rows, each with the options that determine its games."""
    found = measure(*grouped(kept).values())
    success = found.success
    low, high = success.interval if success.n else (None, None)
    reported = {field.name for field in fields(Result)}
    counts = {
        name: _number(value) for name, value in vars(found).items() if name in reported
    }
    return Result(
        **counts | named,
        n=success.n,
        lowest=success.share,
        highest=success.share,
        interval_low=low,
        interval_high=high,
    )


def _number(value: Any) -> Any:
    return (
        value.k
        if isinstance(value, Rate)
        else value.mean
        if isinstance(value, Mean)
        else value
    )


def papers_markdown(results: Sequence[Result]) -> str:
    """Returns papers.md, or "" if no cell has results that the papers report."""
    tables = [f"## {title}\n\n{markdown(rows)}" for title, rows in _tables(results)]
    titles = [
        f"{name}: {source['title']}" for name, source in _sources(results).items()
    ]
    notes = "".join(f"- {note}\n" for note in (*notes_of("papers"), *titles))
    return "\n".join(["# As the papers report it\n", *tables, notes]) if tables else ""


def _tables(results: Sequence[Result]) -> list[tuple[str, list[TextRow]]]:
    main = [one for one in results if _main(one) and not one.group and not one.domain]
    by_group = [one for one in results if _main(one) and one.group and not one.domain]
    by_variant = [
        one for one in results if one.variant and not one.group and not one.domain
    ]
    by_domain = [one for one in results if _main(one) and not one.group]
    tables = [
        ("Success by method and model", _pivot(main, lambda one: one.method)),
        ("Errors, and how many were fixed", _rows(main, _errors)),
        ("Steps and actions", _rows(main, _steps)),
        ("Difficulty", _pivot(by_group, lambda one: one.group, apart=2)),
        (
            "What the prompt says about goals",
            _pivot(by_variant, lambda one: one.variant, apart=2),
        ),
        ("A domain that won before, held fixed", _pivot(by_domain, _domain, apart=2)),
    ]
    return [(title, rows) for title, rows in tables if rows]


def _main(result: Result) -> bool:
    """Whether the prompts are those of the papers' main tables, or `compact`, which
    shortens them.
    """
    return not result.variant or (
        result.ours and result.variant in ("detailed", COMPACT)
    )


def _domain(result: Result) -> str:
    return f"domain {result.domain or 'written'}"


def _pivot(
    results: Sequence[Result], column: Callable[[Result], str], apart: int = 1
) -> list[TextRow]:
    """A table of success with a column for each value of `column`; empty if our cells
    have fewer values than `apart`.
    """
    ours = {column(one) for one in results if one.ours}
    if len(ours) < apart:
        return []
    shown = comparable(results)
    columns = sorted({column(one) for one in shown}, key=by_number)
    with_method = column(shown[0]) != shown[0].method
    rows: dict[tuple[str, ...], TextRow] = {}
    for one in shown:
        whose = _whose(one) | ({"method": one.method} if with_method else {})
        row = rows.setdefault(
            tuple(whose.values()), {**whose, **dict.fromkeys(columns, "–")}
        )
        row[column(one)] = _success(one)
    return without_empty(list(rows.values()))


def _rows(
    results: Sequence[Result], numbers: Callable[[Result], TextRow]
) -> list[TextRow]:
    """A row for each result that has any of the numbers; empty if none of them is
    ours.
    """
    known = [
        one for one in results if any(text != "–" for text in numbers(one).values())
    ]
    if not any(one.ours for one in known):
        return []
    rows = [
        {**_whose(one), "method": one.method, "n": str(one.n), **numbers(one)}
        for one in comparable(known)
    ]
    return without_empty(rows)


def _whose(result: Result) -> TextRow:
    return {name: getattr(result, name) or "–" for name in WHOSE}


def _errors(result: Result) -> TextRow:
    row: TextRow = {}
    for kind in ("solver", "simulation"):
        names = (f"{kind}_errors", f"{kind}_errors_fixed", f"{kind}_aborts")
        errors, fixed, aborts = (getattr(result, name) for name in names)
        share = None if fixed is None or not errors else f"{100 * fixed / errors:.0f} %"
        found = {"errors": errors, "errors fixed": share, "aborts": aborts}
        row |= {
            f"{kind} {name}": "–" if n is None else str(n) for name, n in found.items()
        }
    return row


def _steps(result: Result) -> TextRow:
    return {
        "steps on success": number(result.steps_on_success),
        "steps on failure": number(result.steps_on_failure),
        "actions": number(result.actions),
        "PDDLego's steps on success": number(result.pddlego_steps_on_success),
        "refused on success": number(result.refused_on_success),
    }


def _success(result: Result) -> str:
    missing = f"{result.missing} without a result" if result.missing else ""
    if result.lowest is None or result.highest is None:
        return missing or "–"
    of = "" if result.n is None else f" of {result.n}"
    if result.interval_low is not None and result.interval_high is not None:
        ends = interval(result.interval_low, result.interval_high)
        return f"{100 * result.lowest:.1f} % {ends}{of}" + (
            f", {missing}" if missing else ""
        )
    if result.lowest < result.highest:
        return f"{100 * result.lowest:.0f}–{100 * result.highest:.0f} %{of}"
    return f"{100 * result.lowest:.0f} %{of}"
