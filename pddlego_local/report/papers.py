"""The results that the papers report beside ours: one table, in which they are shown
side by side and never combined.

published.yaml has the results of others with their sources.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.counting import Also, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import table
from pddlego_local.report.arms import Arm, arms_of
from pddlego_local.report.cells import CellRecord, by_number, varying_options
from pddlego_local.report.numbers import measure
from pddlego_local.report.statistics.rates import Mean, Rate
from pddlego_local.report.text import markdown, notes_of, number, rate, without_empty

Row = dict[str, Any]
"""The result of one system on one set of games, by column. Unknown numbers are None.

The columns are those of published.yaml. `source` is "here", or who reported the result
and where. `tasks` is a kind of games, "" for all. `success` is a share from 0 to 1; for
our results it is a `Rate`. `highest` is the highest share where several runs were
reported.
"""

HERE = "here"


@cache
def _file() -> dict[str, Any]:
    """The contents of published.yaml."""
    return dict(table(__file__, "published.yaml"))


@cache
def published() -> tuple[Row, ...]:
    """Returns all results in published.yaml."""
    columns = _file()["columns"]
    rows = []
    for printed in _file()["tables"]:
        of_table = {name: value for name, value in printed.items() if name in columns}
        for entry in printed["results"]:
            row = {**dict.fromkeys(columns), **of_table, **entry}
            for share in ("success", "highest"):
                if row[share] is not None:
                    row[share] /= 100
            rows.append(row)
    return tuple(rows)


def paper_results(cells: Sequence[CellRecord], *, also: Also = ()) -> list[Row]:
    """Returns our results on the environments with the methods of which others reported
    results, each system followed by theirs.

    Arms that differ only in the kind of games are one system, as in the papers. `also`
    are reasons for exclusion to ignore.
    """
    varying = varying_options(cells)
    same_system = grouped((_all_but_games(arm), arm) for arm in arms_of(cells))
    ours = [
        row for arms in same_system.values() for row in _results(arms, varying, also)
    ]
    found = list[Row]()
    for system, rows in grouped((_system(row), row) for row in ours).items():
        others = [row for row in published() if _system(row) == system]
        if others:
            found += [*rows, *others]
    return found


def _system(row: Row) -> tuple[str, str]:
    """The environment and the method. The real ALFWorld counts as `alfworld`."""
    return row["environment"].removesuffix("_real"), row["method"]


def _all_but_games(arm: Arm) -> str:
    alike = [arm.first.labels["environment"], arm.settings]
    return json.dumps(alike, sort_keys=True)


def _results(arms: Sequence[Arm], varying: set[str], also: Also) -> Iterator[Row]:
    """Yields the results of one system on all games, and on each kind of games."""
    named_by_others = {row["tasks"] for row in published()}
    of_all, of_kinds = list[tuple[str, EpisodeRow]](), []
    for arm in arms:
        rows = [*arm.rows.values()]
        # A trial that was not played again has no kind, but its game has.
        kinds = {row.game: row.task_type for row in rows if row.task_type}
        for row in counted(rows, also=also).counted:
            of_all.append((arm.games, row))
            if kind := kinds.get(row.game):
                tasks = kind if kind in named_by_others else arm.first.group(kind)
                of_kinds.append((tasks, (arm.games, row)))
    system = _named(arms, varying)
    missing = sum(cell.missing for arm in arms for cell in arm.cells)
    yield system | _measured(of_all) | {"missing": missing or None}
    by_kind = grouped(of_kinds)
    if len(by_kind) > 1:
        for tasks, rows_of_kind in by_kind.items():
            yield system | _measured(rows_of_kind) | {"tasks": tasks}


def _named(arms: Sequence[Arm], varying: set[str]) -> Row:
    """The columns that say whose result it is."""
    first = arms[0].first
    settings = [
        f"{key.split('.')[-1]} {value}"
        for key, value in arms[0].settings.items()
        if key in varying and key not in ("method.variant", "method.domains")
    ]
    rooms = {arm.first.options.get("environment.rooms", "") for arm in arms} - {""}
    domains = first.options.get("method.domains", "None")
    return dict.fromkeys(_file()["columns"]) | {
        "source": HERE,
        "environment": first.labels["environment"],
        "games": f"rooms {', '.join(sorted(rooms, key=by_number))}" if rooms else "",
        "budget": first.budget,
        "method": first.labels["method"],
        "model": first.labels["model"],
        "decoding": ", ".join([arms[0].rung, *settings]),
        "variant": first.options.get("method.variant"),
        "domain": None if domains == "None" else "fixed",
    }


def _measured(scored: Sequence[tuple[str, EpisodeRow]]) -> Row:
    """`scored` are rows, each with the options that determine its games."""
    found = measure(*grouped(scored).values())
    row: Row = {"success": found.success, "n": found.success.n}
    for name in _file()["numbers"]:
        value = getattr(found, name)
        if isinstance(value, Rate):
            value = value.k
        row[name] = value.mean if isinstance(value, Mean) else value
    return row


def papers_markdown(results: Sequence[Row]) -> str:
    """Returns papers.md, or "" if there are no results."""
    if not results:
        return ""
    rows = [
        {name.replace("_", " "): _text(name, row) for name in row if name != "highest"}
        for row in results
    ]
    titles = _file()["sources"].items()
    notes = [*notes_of("papers"), *(f"{source}: {title}" for source, title in titles)]
    below = "".join(f"- {note}\n" for note in notes)
    return f"# As the papers report it\n\n{markdown(without_empty(rows))}\n{below}"


def _text(name: str, row: Row) -> str:
    value = row[name]
    if isinstance(value, Rate):
        return rate(value)
    if name == "success":
        lowest = f"{100 * value:.0f}"
        highest = f"–{100 * row['highest']:.0f}" if row["highest"] else ""
        return f"{lowest}{highest} %"
    if isinstance(value, float):
        return number(value)
    return "–" if value in (None, "") else str(value)
