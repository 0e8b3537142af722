"""docs/results/selector.md: the order of sub-goals in DEPS."""

from collections import Counter
from statistics import fmean, median

from statsmodels.stats.weightstats import DescrStatsW

from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import Records, scored

OWN = "selector/records.tar.xz", "selector"
MEDIAN = "selector/records.tar.xz", "selector_median"
SETTINGS = {
    "cooking_75": "hard Cooking, 75 %",
    "cooking_50": "hard Cooking, 50 %",
    "office_75": "office, 75 %",
    "office_50": "office, 50 %",
}
SELECTORS = ("none", "random", "horizon")


def cells(records: Records) -> dict[tuple[str, str], CellRecord]:
    """Returns the cell of each setting and selector."""
    return {
        (cell.labels["environment"], cell.run.identity["method"]["selector"]): cell
        for cell in records.sweep(*OWN)
    }


def limit(cell: CellRecord) -> int:
    return int(cell.run.identity["environment"]["budget"]["limit"])


def actions(cell: CellRecord) -> dict[int, int]:
    """Returns the actions of each game, which are the whole budget if it was lost."""
    return {row.game: _capped(row, limit(cell)) for row in scored(cell)}


def _capped(row: EpisodeRow, budget: int) -> int:
    return row.actions if row.won else budget


def medians(records: Records) -> str:
    rows = []
    for cell in records.sweep(*MEDIAN):
        played = scored(cell)
        middle = median(row.actions for row in played)
        rows.append(
            {
                "world": f"`{cell.labels['environment']}`",
                "games won": tables.games_won(cell),
                "median actions": f"{middle:g}",
                "50 %": f"{middle / 2:g}",
                "75 %": f"{middle * 3 / 4:g}",
            }
        )
    return tables.table(rows)


def rates(records: Records) -> str:
    found = cells(records)
    rows = []
    for setting, title in SETTINGS.items():
        row = {"world and budget": f"{title}: {limit(found[setting, 'none'])} actions"}
        for selector in SELECTORS:
            row[f"`{selector}`"] = tables.games_won(found[setting, selector])
        rows.append(row)
    return tables.table(rows)


def spent(records: Records) -> str:
    found = cells(records)
    rows = []
    for setting, title in SETTINGS.items():
        by_selector = {name: actions(found[setting, name]) for name in SELECTORS}
        row = {"world and budget": title}
        for name, spent in by_selector.items():
            row[f"`{name}`"] = f"{fmean(spent.values()):.1f}"
        for base in ("none", "random"):
            row[f"`{base}` → `horizon`"] = _difference(
                by_selector[base], by_selector["horizon"]
            )
        rows.append(row)
    return tables.table(rows)


def _difference(base: dict[int, int], other: dict[int, int]) -> str:
    """Returns the mean difference in the same games, with its 95 % interval."""
    differences = [other[game] - base[game] for game in sorted(base)]
    low, high = DescrStatsW(differences).tconfint_mean()
    return f"{fmean(differences):+.1f} ({low:+.1f} to {high:+.1f})"


def choices(records: Records) -> str:
    """How often there was a choice, and how often it was not the plan's first."""
    found = cells(records)
    rows = []
    for setting, title in SETTINGS.items():
        row = {"world and budget": title}
        for selector in ("random", "horizon"):
            counts = Counter[str]()
            for played in scored(found[setting, selector]):
                counts.update(played.notes.get("selected", {}))
            row[f"`{selector}`"] = f"{counts['moved']:,} of {counts['of']:,}"
        rows.append(row)
    return tables.table(rows)


def verdicts(records: Records) -> str:
    return tables.verdict_lines(records.compared(*OWN), where="environment")


PAGES = (
    Page(
        "docs/results/selector.md",
        {
            "medians": medians,
            "games won": rates,
            "verdicts": verdicts,
            "actions": spent,
            "choices": choices,
        },
    ),
)
