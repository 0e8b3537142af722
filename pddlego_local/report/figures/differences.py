"""The figure of the tested comparisons: a row with the difference and interval of each, in the
order of their declaration."""

from collections.abc import Sequence
from pathlib import Path

from pddlego_local.report.comparisons import Compared
from pddlego_local.report.figures.plotting import draw_dots, drawing, remove, rows_height
from pddlego_local.report.verdicts import Verdict

NAME = "differences"


def draw_differences(
    compared: Compared, verdicts: Sequence[Verdict], folder: Path
) -> dict[str, str]:
    """Writes the figure if two or more comparisons have pairs, and otherwise removes an earlier
    one.

    `verdicts` are the verdicts on the comparisons. Returns the caption by the name of the figure.
    """
    remove(folder, NAME)
    titles = {verdict.number: verdict.title for verdict in verdicts}
    rows = [
        (f"{titles[number]}, n = {found.pairs}", found.difference, found.new.interval)
        for number, found in enumerate(compared.tested)
        if found.difference is not None
    ]
    if len(rows) < 2:
        return {}
    with drawing(folder, NAME, [rows_height(len(rows))]) as axes:
        draw_dots(axes[0], "Difference in success, on new maps", rows, differences=True)
    return {NAME: "Differences of the tested comparisons, each with the interval of its test"}
