"""docs/results/nano_explored.md: a small model that plays partly seen worlds."""

from functools import partial

from pddlego_local.report.cells import CellRecord
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import Records

ARCHIVE = "nano_explored/records.tar.xz"
LARGE = ARCHIVE, "nano_explored"
SMALL = ARCHIVE, "nano_explored_small"
TITLES = {
    "large_coin": "coin, 12 to 16 rooms",
    "large_ferry": "ferry, sizes 5 and 6",
    "large_office": "office, sizes 4 and 5",
    "large_vault": "vault, sizes 5 and 6",
    "new_grid": "grid, in no training",
    "small_coin": "coin, 4 to 11 rooms",
    "small_ferry": "ferry, sizes 2 to 4",
    "small_office": "office, sizes 2 and 3",
    "small_vault": "vault, sizes 2 to 4",
}
RUNGS = ("free", "grounded")


def won(records: Records, sweep: tuple[str, str]) -> str:
    """Games won of each kind, with real and with renamed words, on each rung."""
    by_setting = {setting_of(cell): cell for cell in records.sweep(*sweep)}
    played = {environment for environment, _, _ in by_setting}
    rows = []
    for environment in filter(played.__contains__, TITLES):
        for renamed in (False, True):
            row = {
                "games": TITLES[environment],
                "words": "renamed" if renamed else "real",
            }
            for rung in RUNGS:
                cell = by_setting[environment, renamed, rung]
                row[f"`{rung}`"] = _won_and_share(cell)
            rows.append(row)
    return tables.table(rows)


def setting_of(cell: CellRecord) -> tuple[str, bool, str]:
    """Returns the environment's name, whether its words are renamed, and the rung."""
    identity = cell.run.identity
    renamed = bool(identity["environment"].get("renamed", False))
    return cell.labels["environment"], renamed, identity["decoding"]["rung"]


def _won_and_share(cell: CellRecord) -> str:
    return f"{tables.games_won(cell)}, {tables.share_won(cell)}"


def held_out(records: Records, rung: str) -> str:
    """For example "212 of 800": games won of all that the training held out."""
    cells = [c for c in records.sweep(*LARGE) if setting_of(c)[2] == rung]
    return tables.games_won(*cells)


def verdicts(records: Records) -> str:
    return tables.verdict_lines(
        records.compared(*LARGE), where=["environment", "settings"]
    )


PAGES = (
    Page(
        "docs/results/nano_explored.md",
        {
            "larger games and a new world": partial(won, sweep=LARGE),
            "games as in training": partial(won, sweep=SMALL),
            "held out, free": partial(held_out, rung="free"),
            "held out, grounded": partial(held_out, rung="grounded"),
            "verdicts": verdicts,
        },
    ),
)
