"""The results that the papers report beside ours: one table, in which they are shown
side by side and never combined.

published.yaml has the results of others with their sources.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from pddlego_local.core.grouping import grouped, grouped_by
from pddlego_local.core.record.counting import Also, counted, task_types
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import table
from pddlego_local.report.arms import Arm, arms_of
from pddlego_local.report.cells import (
    CellRecord,
    by_number,
    short_name,
    varying_options,
)
from pddlego_local.report.measures import measure
from pddlego_local.report.statistics.rates import Mean, Rate
from pddlego_local.report.text import (
    TextRow,
    bullets,
    markdown,
    notes_of,
    number,
    rate,
    without_empty,
)

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
    unknown = dict.fromkeys(_file()["columns"])
    rows = []
    for printed in _file()["tables"]:
        shared = {name: value for name, value in printed.items() if name in unknown}
        for entry in printed["results"]:
            row = {**unknown, **shared, **entry}
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
    ours = list[Row]()
    for arms in grouped_by(arms_of(cells), _all_but_games).values():
        ours += _results(arms, varying, also)
    reported = grouped_by(published(), _system)
    found = list[Row]()
    for system, rows in grouped_by(ours, _system).items():
        if system in reported:
            found += rows + reported[system]
    return found


def _system(row: Row) -> tuple[str, str]:
    """The environment and the method. The real ALFWorld counts as `alfworld`."""
    return row["environment"].removesuffix("_real"), row["method"]


def _all_but_games(arm: Arm) -> str:
    alike = [arm.first.labels["environment"], arm.settings]
    return json.dumps(alike, sort_keys=True)


class _Scored(NamedTuple):
    """A scored row with the options that determine its games, and its kind of games, ""
    if unknown.
    """

    row: EpisodeRow
    games: str
    tasks: str


def _results(arms: Sequence[Arm], varying: set[str], also: Also) -> Iterator[Row]:
    """Yields the results of one system on all games, and on each kind of games."""
    system = _named(arms, varying)
    scored = list[_Scored]()
    missing = 0
    for arm in arms:
        scored += _scored(arm, also)
        missing += sum(cell.missing for cell in arm.cells)
    yield {**system, **_measured(scored), "missing": missing or None}
    kinds = grouped_by(scored, lambda found: found.tasks)
    kinds.pop("", None)
    if len(kinds) > 1:
        for tasks, of_kind in kinds.items():
            yield {**system, **_measured(of_kind), "tasks": tasks}


def _scored(arm: Arm, also: Also) -> Iterator[_Scored]:
    named_by_others = {row["tasks"] for row in published()}
    rows = [*arm.rows.values()]
    types = task_types(rows)
    for row in counted(rows, also=also).counted:
        tasks = types.get(row.game, "")
        if tasks and tasks not in named_by_others:
            tasks = arm.first.group(tasks)
        yield _Scored(row, arm.games, tasks)


def _named(arms: Sequence[Arm], varying: set[str]) -> Row:
    """The columns that say whose result it is."""
    arm = arms[0]
    settings = [
        f"{short_name(key)} {value}"
        for key, value in arm.settings.items()
        if key in varying and key not in ("method.variant", "method.domains")
    ]
    rooms = {other.options.get("environment.rooms", "") for other in arms}
    rooms.discard("")
    listed = ", ".join(sorted(rooms, key=by_number))
    domains = arm.options.get("method.domains", "None")
    return {
        **dict.fromkeys(_file()["columns"]),
        "source": HERE,
        "environment": arm.first.labels["environment"],
        "games": f"rooms {listed}" if rooms else "",
        "budget": arm.first.budget,
        "method": arm.first.labels["method"],
        "model": arm.first.labels["model"],
        "decoding": ", ".join([arm.rung, *settings]),
        "variant": arm.options.get("method.variant"),
        "domain": None if domains == "None" else "fixed",
    }


def _measured(scored: Sequence[_Scored]) -> Row:
    parts = grouped((found.games, found.row) for found in scored)
    measures = measure(*parts.values())
    row: Row = {"success": measures.success, "n": measures.success.n}
    for name in _file()["numbers"]:
        value = getattr(measures, name)
        if isinstance(value, Rate):
            row[name] = value.k
        elif isinstance(value, Mean):
            row[name] = value.mean
        else:
            row[name] = value
    return row


def papers_markdown(results: Sequence[Row]) -> str:
    """Returns papers.md, or "" if there are no results."""
    if not results:
        return ""
    rows = [_text_row(row) for row in results]
    table = markdown(without_empty(rows))
    notes = notes_of("papers")
    for source, title in _file()["sources"].items():
        notes.append(f"{source}: {title}")
    return f"# As the papers report it\n\n{table}\n{bullets(notes)}"


def _text_row(row: Row) -> TextRow:
    names = [name for name in row if name != "highest"]
    return {name.replace("_", " "): _text(name, row) for name in names}


def _text(name: str, row: Row) -> str:
    value = row[name]
    if isinstance(value, Rate):
        return rate(value)
    if name == "success":
        shares = f"{100 * value:.0f}"
        if row["highest"]:
            shares += f"–{100 * row['highest']:.0f}"
        return f"{shares} %"
    if isinstance(value, float):
        return number(value)
    return "–" if value in (None, "") else str(value)
