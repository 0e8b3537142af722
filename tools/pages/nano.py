"""docs/results/nano.md: two small models in CoinCollector."""

from functools import partial

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
    sizes = sorted(set(map(rooms, cells)))
    rows = []
    for title, shown in [*((str(size), [size]) for size in sizes), ("all", sizes)]:
        played = [cell for cell in cells if rooms(cell) in shown]
        row = {"rooms": title}
        for model in MODELS:
            for rung in RUNGS:
                arm = [
                    c
                    for c in played
                    if (weights(c), tables.arm_name(c)) == (model, rung)
                ]
                won = sum(tables.total(cell, "won") for cell in arm)
                games = sum(len(scored(cell)) for cell in arm)
                row[f"`{model}`, `{rung}`"] = (
                    f"{won} of {games}, {tables.percent(won, games)}"
                )
        rows.append(row)
    return tables.table(rows)


def verdicts(records: Records) -> str:
    lines = tables.verdict_lines(records.compared(*FRESH), where="settings")
    return lines.replace("model.weights=", "")


def of_card(records: Records, model: str) -> str:
    """Games won of an earlier sweep, by the number of rooms and by rung."""
    cells = [cell for cell in records.sweep(*EARLIER) if weights(cell) == model]
    rows = []
    for size in sorted(set(map(rooms, cells))):
        played = {tables.arm_name(cell): cell for cell in cells if rooms(cell) == size}
        row = {"rooms": str(size), "games": str(len(scored(played["free"])))}
        for rung in CARD_RUNGS:
            name = next(
                (arm for arm in (rung, f"{rung}, tight lists") if arm in played), ""
            )
            if name:
                row[f"`{rung}`"] = str(tables.total(played[name], "won"))
        rows.append(row)
    return tables.table(rows)


PAGES = (
    Page("docs/results/nano.md", {"fresh games": fresh, "verdicts": verdicts}),
    *(
        Page(f"weights/{model}/README.md", {"games won": partial(of_card, model=model)})
        for model in MODELS
    ),
)
