"""The figure of what an experiment's comparisons found: a row for each, in the order in which they
were declared."""

from pathlib import Path

from pddlego_local.report.comparisons import Compared
from pddlego_local.report.figures.charts import DOT
from pddlego_local.report.figures.plotting import ENDINGS, draw_dots, drawing
from pddlego_local.report.verdicts import verdicts

NAME = "differences"


def draw_differences(compared: Compared, folder: Path) -> dict[str, str]:
    """Writes the figure where two comparisons or more have pairs, and removes the one from before
    otherwise. Returns its caption by its name."""
    for ending in ENDINGS:
        (folder / f"{NAME}{ending}").unlink(missing_ok=True)
    titles = {verdict.number: verdict.title for verdict in verdicts(compared)}
    rows = [
        (f"{titles[number]}, n = {found.pairs}", found.difference, found.new.interval)
        for number, found in enumerate(compared.tested)
        if found.difference is not None
    ]
    if len(rows) < 2:
        return {}
    with drawing(folder, NAME, [0.6 + DOT * len(rows)]) as axes:
        draw_dots(axes[0], "Difference in success, on new maps", rows, differences=True)
    return {NAME: "What was compared, with the interval of each test's own level"}
