"""The part of docs/results/instead.md on pretrained models in described worlds, where a
win is a right file.
"""

import re
from collections.abc import Sequence

from pddlego_local.report.cells import CellRecord
from pddlego_local.report.outcomes import achieves
from pddlego_local.runner.settings import Outcome
from tools.pages import tables
from tools.pages.records import Records, calls, scored
from tools.pages.ways import WAYS, by_way, costs

LARGE = "instead/pretrained_records.tar.xz", "instead_pretrained"
SMALL = "instead/pretrained_small_records.tar.xz", "instead_pretrained_small"
PILOTS = "instead/pilot_records.tar.xz"
PILOT = (
    ("Qwen2.5-Coder 1.5B", "pilot_large"),
    ("Qwen2.5-Coder 0.5B", "pilot_small"),
    ("Qwen2.5-Coder 0.5B", "pilot_sixteen"),
    ("Qwen2.5-Coder 0.5B", "pilot_third"),
)
DRAWN_FREELY = ("free", "repair_typed", "repair_grounded", "rounds", "best_of_3")
ODD = re.compile(r"\((forall|exists|or|imply|not)\b")
STAGES: dict[str, Outcome] = {
    "accepted": "accepted",
    "with a plan": "plan",
    "with a valid plan": "valid",
    "right": "equivalent",
    "right but for idle objects": "equivalent_but_for_idle",
}


def arms(records: Records, sweep: tuple[str, str]) -> str:
    """The table of how far the files came, and what they cost."""
    rows = []
    for name, cells in by_way(records.sweep(*sweep)).items():
        row = {"arm": f"`{name}`", "what it is": WAYS[name]}
        row |= _reached(cells) | costs(cells, tables.reached(cells, "equivalent"))
        rows.append(row)
    return tables.table(rows)


def _reached(cells: Sequence[CellRecord]) -> dict[str, str]:
    rows = [row for cell in cells for row in scored(cell)]
    both = sum(achieves(row, "equivalent") and achieves(row, "valid") for row in rows)
    found = {"worlds": str(len(rows))}
    for stage, outcome in STAGES.items():
        found[stage] = str(tables.reached(cells, outcome))
    return found | {"right, with a valid plan": str(both)}


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


def shared_draws(records: Records, sweep: tuple[str, str]) -> str:
    """For example "198 of 200": worlds whose first answer is the same text in all arms
    that draw it freely.
    """
    first = [
        {
            row.game: drawn[0].text
            for row, drawn in zip(scored(cell), calls(cell), strict=True)
        }
        for name, (cell,) in by_way(records.sweep(*sweep)).items()
        if name in DRAWN_FREELY
    ]
    same = sum(len({of_arm[game] for of_arm in first}) == 1 for game in first[0])
    return f"{same} of {len(first[0])}"


def without_a_car(records: Records, way: str) -> str:
    """For example "69 of 280": answers of the smaller model that declare no car."""
    answers = _answers(records, way)
    without = ["- car" not in answer.partition("(:init")[0] for answer in answers]
    return f"{sum(without)} of {len(answers)}"


def odd_goals(records: Records, way: str) -> str:
    """For example "100 of 280": answers of the smaller model with a quantifier, "or",
    "imply" or "not", which the goal of no world has.
    """
    answers = _answers(records, way)
    return f"{sum(bool(ODD.search(answer)) for answer in answers)} of {len(answers)}"


def _answers(records: Records, way: str) -> list[str]:
    """Returns the texts of an arm that answers once for each world."""
    (cell,) = by_way(records.sweep(*SMALL))[way]
    return [drawn.text for (drawn,) in calls(cell)]
