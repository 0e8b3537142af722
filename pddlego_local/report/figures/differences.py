"""The figure of what an experiment's comparisons found: a row for each, in the order in which they
were declared."""

from collections.abc import Sequence
from pathlib import Path

from pddlego_local.report.comparisons import Compared
from pddlego_local.report.figures.plotting import draw_dots, drawing, remove, rows_height
from pddlego_local.report.verdicts import Verdict

NAME = "differences"


def draw_differences(
    compared: Compared, verdicts: Sequence[Verdict], folder: Path
) -> dict[str, str]:
    """Writes the figure where two comparisons or more have pairs, and removes the one from before
    otherwise. `verdicts` are those of the comparisons. Returns the figure's caption by its name."""
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
    return {NAME: "What was compared, with the interval of each test's own level"}
