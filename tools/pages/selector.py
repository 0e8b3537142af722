"""docs/results/selector.md: the order of sub-goals in DEPS."""

from collections import Counter
from collections.abc import Mapping
from statistics import fmean, median

from statsmodels.stats.weightstats import DescrStatsW

from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import Records, scored

OWN = "selector/records.tar.xz", "selector"
MEDIAN = "selector/records.tar.xz", "selector_median"
FULL = "selector/records.tar.xz", "selector_full"
WORLDS = {"cooking_hard": "hard Cooking", "explored": "office"}
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
        (cell.labels["environment"], selector_of(cell)): cell
        for cell in records.sweep(*OWN)
    }


def selector_of(cell: CellRecord) -> str:
    """Returns the selector, which a record has only if it is not the default."""
    return str(cell.run.identity["method"].get("selector", "none"))


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
        middle = median(row.actions for row in scored(cell))
        rows.append(
            {
                "world": WORLDS[cell.labels["environment"]],
                "games won": tables.games_won(cell),
                "median actions": f"{middle:g}",
                "50 %": f"{middle / 2:g}",
                "75 %": f"{middle * 3 / 4:g}",
            }
        )
    return tables.table(rows)


def played(records: Records) -> str:
    """How many games every cell has, which are the same."""
    games = {
        frozenset(row.game for row in cell.rows) for cell in cells(records).values()
    }
    (same,) = games
    return f"{len(same)} games, {min(same)} to {max(same)}"


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
    return tables.table(
        {"world and budget": title}
        | _means({name: found[setting, name] for name in SELECTORS})
        for setting, title in SETTINGS.items()
    )


def without_limit(records: Records) -> str:
    """The same in the games of the medians, which nobody's budget ended."""
    every = [*records.sweep(*MEDIAN), *records.sweep(*FULL)]
    return tables.table(
        {"world": title}
        | _means(
            {
                selector_of(cell): cell
                for cell in every
                if cell.labels["environment"] == world
            }
        )
        for world, title in WORLDS.items()
    )


def _means(by_selector: Mapping[str, CellRecord]) -> dict[str, str]:
    """Returns columns with the mean actions, and with differences in the same games."""
    counted = {name: actions(by_selector[name]) for name in SELECTORS}
    columns = {f"`{name}`": f"{fmean(of.values()):.1f}" for name, of in counted.items()}
    for base in ("none", "random"):
        columns[f"`{base}` → `horizon`"] = _difference(
            counted[base], counted["horizon"]
        )
    return columns


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
        columns = {"world and budget": title}
        for selector in ("random", "horizon"):
            counts = Counter[str]()
            for row in scored(found[setting, selector]):
                counts.update(row.notes.get("selected", {}))
            columns[f"`{selector}`"] = f"{counts['moved']:,} of {counts['of']:,}"
        rows.append(columns)
    return tables.table(rows)


def verdicts(records: Records) -> str:
    names = {f"selector {name}": name for name in SELECTORS}
    return tables.verdict_lines(records.compared(*OWN), names, where=["environment"])


PAGES = (
    Page(
        "docs/results/selector.md",
        {
            "medians": medians,
            "played": played,
            "games won": rates,
            "verdicts": verdicts,
            "actions": spent,
            "without limit": without_limit,
            "choices": choices,
        },
    ),
)
