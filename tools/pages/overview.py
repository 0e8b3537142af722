"""README.md and docs/results/README.md: the games won in all settings, and one
figure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pddlego_local.report.cells import CellRecord
from pddlego_local.report.figures.plotting import Dot, draw_dots, drawing, rows_height
from pddlego_local.report.statistics.rates import Interval
from pddlego_local.runner.settings import Outcome
from tools.pages import (
    described,
    instead,
    instead_partial,
    instead_pretrained,
    nano_edit,
    pretrained,
    tables,
)
from tools.pages.blocks import Page
from tools.pages.pooled import pooled
from tools.pages.records import Records, scored

COLUMNS = {
    "free": "`free`",
    "free + repair typed": "`free`, repaired with what `typed` knows",
    "free + repair grounded": "`free`, repaired with what `grounded` knows",
    "typed": "`typed`",
    "grounded": "`grounded`",
}


REPAIRED = {
    "repair_typed": "free + repair typed",
    "repair_grounded": "free + repair grounded",
}
"""Arms of conf/arm/instead, by their names in the other settings."""


@dataclass(frozen=True)
class Setting:
    """A model with a task. Of the sweeps, cells with these labels belong to it. With
    `over_worlds`, each declared comparison is over all worlds. A game with the
    `outcome` is won.
    """

    title: str
    page: str
    sweeps: tuple[tuple[str, str], ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    over_worlds: bool = False
    outcome: Outcome = "success"

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
    Setting("`nano_early`, Coin, whole files", "instead", (instead.COIN,)),
    Setting("`nano_edit_early`, ALFWorld-like, edits", "instead", (instead.EDITS,)),
    Setting(
        "`nano_edit`, ALFWorld-like, edits",
        "nano_edit",
        (nano_edit.OWN, nano_edit.REPAIRED),
        {"environment": "alfworld_unseen"},
    ),
    Setting(
        "`nano_explored`, partly seen worlds, edits",
        "instead",
        (instead_partial.PARTIAL,),
        over_worlds=True,
    ),
    Setting(
        "Qwen2.5-Coder 1.5B, Coin by edits, one example",
        "instead",
        (instead_partial.PRETRAINED,),
    ),
    Setting(
        "Qwen2.5-Coder 1.5B, described worlds, right files",
        "instead",
        (instead_pretrained.LARGE,),
        outcome="equivalent",
    ),
    Setting(
        "Qwen2.5-Coder 0.5B, described worlds, right files",
        "instead",
        (instead_pretrained.SMALL,),
        outcome="equivalent",
    ),
)


def games_won(records: Records, links: str = "") -> str:
    """The table of games won. With `links`, the setting links to its page there."""
    rows = []
    for setting in SETTINGS:
        played = [cell for sweep in setting.sweeps for cell in records.sweep(*sweep)]
        cells = [cell for cell in played if setting.has(cell.labels)]
        by_arm = tables.by_arm(_without_more_retries(cells))
        row = {
            "model and task": f"[{setting.title}]({links}{setting.page}.md)",
            "games": str(sum(len(scored(cell)) for cell in by_arm["free"])),
        }
        for arm, column in COLUMNS.items():
            # An arm that was played under tight lists alone stands for the arm.
            of_arm = by_arm.get(arm) or by_arm.get(f"{arm}, tight lists")
            won = str(tables.wins(of_arm, setting.outcome)) if of_arm else "–"
            row[column] = won
        rows.append(row)
    return tables.table(rows)


def _without_more_retries(cells: list[CellRecord]) -> list[CellRecord]:
    """Leaves out the arm that is asked again more often than the others."""
    fewest = min(map(tables.times_asked_again, cells))
    return [cell for cell in cells if tables.times_asked_again(cell) == fewest]


def differences(records: Records) -> list[Dot]:
    """Returns the declared differences from free answers, and from repaired ones, to a
    rung, in percentage points.
    """
    found = []
    for setting in SETTINGS:
        title = setting.title.replace("`", "")
        for sweep in setting.sweeps:
            compared = pooled if setting.over_worlds else Records.compared
            for tested in compared(records, *sweep).tested:
                base = tables.short_name(tested.base.value, REPAIRED)
                other = tables.short_name(tested.other.value, {})
                freely = base == "free" or "repair" in base
                to_a_rung = freely and other in ("typed", "grounded")
                if to_a_rung and setting.has(tested.labels):
                    low, high = tested.new.interval
                    points = Interval(100 * low, 100 * high)
                    difference = 100 * (tested.difference or 0.0)
                    found.append(Dot(f"{title}: {base} → {other}", difference, points))
    return found


def draw(records: Records) -> bytes:
    """Draws all declared differences."""
    rows = differences(records)
    title = "difference in percentage points of games won"
    with drawing(records.folder, "differences", [rows_height(len(rows))]) as (axis,):
        draw_dots(axis, title, rows, differences=True)
    return (records.folder / "differences.png").read_bytes()


PAGES = (
    Page(
        "README.md", {"games won": lambda records: games_won(records, "docs/results/")}
    ),
    Page("docs/results/README.md", {"games won": games_won}),
)
