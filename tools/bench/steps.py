"""Draws which part of the way from free answers to a rung is knowledge, form, masks, and layout.

    python -m tools.bench.steps OUT RUN...

Each RUN holds the arms of experiment=mechanism or mechanism_edit. OUT/steps.png has a panel for
each run and rung. A row is a step with its difference in games won, and the 95 % interval of that
difference for new maps. Most steps were not declared; the intervals are not adjusted for their
number.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from pddlego_local.report.arms import Arm
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.comparisons import pairs_of, tallied
from pddlego_local.report.figures.plotting import draw_dots, drawing, rows_height
from pddlego_local.report.statistics.rates import Interval

STEPS = {
    "all (free → {rung})": ("free", "rung"),
    "knowledge (free → free + repair)": ("free", "repair"),
    "form (free + repair → free + reject)": ("repair", "reject"),
    "masks (free + reject → {rung})": ("reject", "rung"),
    "layout ({rung} with any layout → {rung})": ("any", "rung"),
}


def place(cell: CellRecord, rung: str) -> str:
    """Returns where a cell lies on the way to a rung, "" if it does not."""
    decoding, label = cell.run.identity["decoding"], cell.labels["decoding"]
    if label == rung and decoding["lists"] == "free" and decoding.get("rollback", True):
        return "rung" if decoding["layout"] == "line" else "any"
    ways = {"free": "free", f"free + repair {rung}": "repair", f"free + reject {rung}": "reject"}
    return "" if cell.run.identity["method"]["max_retries"] else ways.get(label, "")


def difference(base: CellRecord, other: CellRecord) -> tuple[float, Interval]:
    """Returns the difference in games won, from -1 to 1, and its interval for new maps."""
    pairs = pairs_of(Arm((base,)), Arm((other,)), ())
    paired = tallied((pair for pair in pairs if pair.finished), lambda pair: pair.cluster)
    return paired.difference or 0.0, paired.interval()


def rows(cells: Iterable[CellRecord], rung: str) -> list[tuple[str, float, Interval]]:
    """Returns the steps to a rung for which both arms were played."""
    found = {place(cell, rung): cell for cell in cells}
    return [
        (name.format(rung=rung), *difference(found[base], found[other]))
        for name, (base, other) in STEPS.items()
        if base in found and other in found
    ]


def main() -> None:
    out, *runs = map(Path, sys.argv[1:])
    ways = [(run, rung) for run in runs for rung in ("typed", "grounded")]
    panels = {f"{run.name}: {rung}": rows(find_cells([run]), rung) for run, rung in ways}
    with drawing(out, "steps", [rows_height(len(steps)) for steps in panels.values()]) as axes:
        for axis, (title, steps) in zip(axes, panels.items(), strict=True):
            draw_dots(axis, title, steps, differences=True)


if __name__ == "__main__":
    main()
