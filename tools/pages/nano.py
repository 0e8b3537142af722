"""docs/results/nano.md: two small models in CoinCollector."""

from collections.abc import Sequence
from functools import partial

from pddlego_local.core.grouping import grouped
from pddlego_local.report.cells import CellRecord
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import Records, scored

FRESH = "nano/fresh_records.tar.xz", "nano_fresh"
EARLIER = "nano/records.tar.xz", "nano"
CARD_RUNGS = ("free", "json", "syntax", "typed", "grounded")
MODELS = ("nano", "nano_early")
RUNGS = ("free", "grounded")


def weights(cell: CellRecord) -> str:
    return cell.options["model.weights"]


def rooms(cell: CellRecord) -> int:
    return int(cell.options["environment.rooms"])


def fresh(records: Records) -> str:
    """Games won by the number of rooms, and in all."""
    cells = records.sweep(*FRESH)
    by_rooms = grouped((rooms(cell), cell) for cell in cells)
    rows = [
        {"rooms": str(size), **_of_arms(by_rooms[size])} for size in sorted(by_rooms)
    ]
    return tables.table([*rows, {"rooms": "all", **_of_arms(cells)}])


def _of_arms(cells: Sequence[CellRecord]) -> dict[str, str]:
    """Games won by each model under each rung."""
    by_arm = grouped(((weights(cell), tables.arm_name(cell)), cell) for cell in cells)
    columns = {}
    for model in MODELS:
        for rung in RUNGS:
            arm = by_arm[model, rung]
            games = sum(len(scored(cell)) for cell in arm)
            share = tables.percent(sum(map(tables.won, arm)), games)
            columns[f"`{model}`, `{rung}`"] = f"{tables.games_won(*arm)}, {share}"
    return columns


def verdicts(records: Records) -> str:
    lines = tables.verdict_lines(records.compared(*FRESH), where=["settings"])
    return lines.replace("model.weights=", "")


def of_card(records: Records, model: str) -> str:
    """Games won of an earlier sweep, by the number of rooms and by rung."""
    cells = [cell for cell in records.sweep(*EARLIER) if weights(cell) == model]
    rows = []
    for size in sorted(set(map(rooms, cells))):
        played = {tables.arm_name(cell): cell for cell in cells if rooms(cell) == size}
        row = {"rooms": str(size), "games": str(len(scored(played["free"])))}
        for rung in CARD_RUNGS:
            cell = played.get(rung) or played.get(f"{rung}, tight lists")
            if cell:
                row[f"`{rung}`"] = str(tables.won(cell))
        rows.append(row)
    return tables.table(rows)


PAGES = (
    Page("docs/results/nano.md", {"fresh games": fresh, "verdicts": verdicts}),
    *(
        Page(f"weights/{model}/README.md", {"games won": partial(of_card, model=model)})
        for model in MODELS
    ),
)
