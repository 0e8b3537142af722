"""The part of docs/results/instead.md on pretrained models in described worlds, where a
win is a right file.
"""

from collections.abc import Sequence

from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.settings import Outcome
from tools.pages import tables
from tools.pages.records import Records, calls, scored
from tools.pages.ways import WAYS, by_way, costs

PRETRAINED = "instead/pretrained_records.tar.xz", "instead_pretrained"
PILOTS = "instead/pilot_records.tar.xz"
PILOT = (
    ("Qwen2.5-Coder 1.5B", "pilot_large"),
    ("Qwen2.5-Coder 0.5B", "pilot_small"),
    ("Qwen2.5-Coder 0.5B", "pilot_sixteen"),
    ("Qwen2.5-Coder 0.5B", "pilot_third"),
)
DRAWN_FREELY = ("free", "repair_typed", "repair_grounded", "rounds", "best_of_3")
STAGES: dict[str, Outcome] = {
    "accepted": "accepted",
    "with a plan": "plan",
    "with a valid plan": "valid",
    "right": "equivalent",
    "right but for idle objects": "equivalent_but_for_idle",
}


def arms(records: Records) -> str:
    """The table of how far the files came, and what they cost."""
    rows = []
    for name, cells in by_way(records.sweep(*PRETRAINED)).items():
        row = {"arm": f"`{name}`", "what it is": WAYS[name]}
        row |= _reached(cells) | costs(cells, tables.reached(cells, "equivalent"))
        rows.append(row)
    return tables.table(rows)


def _reached(cells: Sequence[CellRecord]) -> dict[str, str]:
    worlds = sum(len(scored(cell)) for cell in cells)
    return {
        "worlds": str(worlds),
        **{
            stage: str(tables.reached(cells, outcome))
            for stage, outcome in STAGES.items()
        },
    }


def pilot(records: Records) -> str:
    """The table of the pilot: how far free answers came in each setting."""
    rows = []
    for model, sweep in PILOT:
        for cell in records.sweep(PILOTS, sweep):
            options = cell.options
            row = {
                "model": model,
                "world": options["environment.world"],
                "main things": options["environment.sizes"],
                "examples": options["method.shots"],
            }
            rows.append(row | _reached([cell]))
    return tables.table(rows)


def shared_draws(records: Records) -> str:
    """For example "198 of 200": worlds whose first answer is the same text in all arms
    that draw it freely.
    """
    first = [
        {
            row.game: drawn[0].text
            for row, drawn in zip(scored(cell), calls(cell), strict=True)
        }
        for name, (cell,) in by_way(records.sweep(*PRETRAINED)).items()
        if name in DRAWN_FREELY
    ]
    same = sum(len({of_arm[game] for of_arm in first}) == 1 for game in first[0])
    return f"{same} of {len(first[0])}"


def verdicts(records: Records) -> str:
    return tables.verdict_lines(records.compared(*PRETRAINED))
