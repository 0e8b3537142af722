"""README.md and docs/results/README.md: the games won in all settings, and one
figure.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pddlego_local.core.grouping import grouped
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.comparisons import Comparison
from pddlego_local.report.figures.plotting import draw_dots, drawing, rows_height
from pddlego_local.report.statistics.rates import Interval
from tools.pages import described, mechanism, nano_edit, pretrained, tables
from tools.pages.blocks import Page
from tools.pages.records import RESULTS, Records, scored

COLUMNS = {
    "free": "`free`",
    "free + repair typed": "`free`, repaired with what `typed` knows",
    "free + repair grounded": "`free`, repaired with what `grounded` knows",
    "typed": "`typed`",
    "grounded": "`grounded`",
}


@dataclass(frozen=True)
class Setting:
    """A model with a task. Of the sweeps, cells with these labels belong to it."""

    title: str
    page: str
    sweeps: tuple[tuple[str, str], ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    def has(self, labels: Mapping[str, str]) -> bool:
        return all(labels.get(name) == value for name, value in self.labels.items())


SETTINGS = (
    Setting(
        "Qwen2.5-Coder 0.5B, Coin by edits",
        "pretrained",
        (pretrained.PLAYED,),
        {"model": "qwen25_coder_0_5b"},
    ),
    Setting(
        "Qwen2.5-Coder 1.5B, Coin by edits",
        "pretrained",
        (pretrained.PLAYED,),
        {"model": "qwen25_coder_1_5b"},
    ),
    Setting("Qwen2.5-Coder 0.5B, described worlds", "described", (described.EXAMPLES,)),
    Setting("`nano_early`, Coin, whole files", "mechanism", (mechanism.FILES,)),
    Setting("`nano_edit_early`, ALFWorld-like, edits", "mechanism", (mechanism.EDITS,)),
    Setting(
        "`nano_edit`, ALFWorld-like, edits",
        "nano_edit",
        (nano_edit.OWN, nano_edit.REPAIRED),
        {"environment": "alfworld_unseen"},
    ),
)


def games_won(records: Records, links: str = "") -> str:
    """The table of games won. With `links`, the setting links to its page there."""
    rows = []
    for setting in SETTINGS:
        played = (cell for sweep in setting.sweeps for cell in records.sweep(*sweep))
        cells = _without_more_retries(
            [cell for cell in played if setting.has(cell.labels)]
        )
        title = f"[{setting.title}]({links}{setting.page}.md)"
        row = {"model and task": title, "games": str(_games(cells))}
        rows.append(row | {column: _won(cells, arm) for arm, column in COLUMNS.items()})
    return tables.table(rows)


def _of(cells: Iterable[CellRecord], arm: str) -> list[CellRecord]:
    """The cells of an arm. If it was played under tight lists alone, these are its
    cells.
    """
    by_name = grouped(
        (tables.arm_name(cell).removesuffix(", tight lists"), cell) for cell in cells
    )
    alike = by_name.get(arm, [])
    return [cell for cell in alike if tables.arm_name(cell) == arm] or alike


def _won(cells: list[CellRecord], arm: str) -> str:
    played = _of(cells, arm)
    return str(sum(tables.total(cell, "won") for cell in played)) if played else "–"


def _games(cells: list[CellRecord]) -> int:
    return sum(len(scored(cell)) for cell in _of(cells, "free"))


def _without_more_retries(cells: list[CellRecord]) -> list[CellRecord]:
    """Leaves out the arm that is asked again more often than the others."""
    fewest = min(_retries(cell) for cell in cells)
    return [cell for cell in cells if _retries(cell) == fewest]


def _retries(cell: CellRecord) -> int:
    return int(cell.run.identity["method"].get("max_retries", 0))


def differences(records: Records) -> list[tuple[str, float, Interval]]:
    """Returns the declared differences from free answers, and from repaired ones, to a
    rung, in percentage points.
    """
    found = []
    for setting in SETTINGS:
        for sweep in setting.sweeps:
            for one in records.compared(*sweep).tested:
                if _from_free_to_a_rung(one) and setting.has(one.labels):
                    base, other = (
                        tables.short_name(s.value, {}) for s in (one.base, one.other)
                    )
                    name = f"{setting.title.replace('`', '')}: {base} → {other}"
                    found.append((name, *_in_points(one)))
    return found


def _in_points(one: Comparison) -> tuple[float, Interval]:
    low, high = one.new.interval
    return 100 * (one.difference or 0.0), Interval(100 * low, 100 * high)


def _from_free_to_a_rung(one: Comparison) -> bool:
    base, other = (tables.short_name(side.value, {}) for side in (one.base, one.other))
    before = base == "free" or base.startswith("free + repair")
    return before and other in ("typed", "grounded")


def draw(records: Records) -> None:
    """Writes the figure of all declared differences."""
    rows = differences(records)
    with drawing(records.folder, "differences", [rows_height(len(rows))]) as (axis,):
        draw_dots(
            axis, "difference in percentage points of games won", rows, differences=True
        )
    shutil.copy(records.folder / "differences.png", RESULTS)


PAGES = (
    Page(
        "README.md", {"games won": lambda records: games_won(records, "docs/results/")}
    ),
    Page("docs/results/README.md", {"games won": games_won}),
)
