"""The pages of a report as files: index.html, episodes/<cell>/<game>-<trial>.html, figures/."""

from collections.abc import Sequence
from pathlib import Path

from pddlego_local.report.cells import CellRecord
from pddlego_local.report.figures.drawn import draw_figures
from pddlego_local.report.figures.growth import Growth
from pddlego_local.report.figures.series import series_of
from pddlego_local.report.pages.elsewhere import arms_beside
from pddlego_local.report.pages.episode import episode_page
from pddlego_local.report.pages.experiment import Findings, experiment_page
from pddlego_local.report.pages.listed import listed, with_pages
from pddlego_local.report.pages.won_alone import won_alone


def write_pages(
    cells: Sequence[CellRecord], findings: Findings, folder: Path, *, with_trivial: bool = False
) -> Path:
    """Writes one page after the other, then the figures, and returns the first page. Figures count
    trivial games if `with_trivial`. Raises OSError."""
    series = series_of(cells, with_trivial=with_trivial)
    growth = {path: grown for one in series for grown in [Growth()] for path in one.cells}
    episodes, arms = listed(cells), arms_beside(cells)
    for number, cell in enumerate(cells):
        for one, beside in with_pages(episodes, number, arms[number]):
            events, unreadable = cell.events(one.row)
            if cell.folder in growth:
                growth[cell.folder].read(events)
            path = folder / one.path
            path.parent.mkdir(parents=True, exist_ok=True)
            text = episode_page(cell, one, events, beside, unreadable)
            path.write_text(text, encoding="utf-8")
    figures = draw_figures(series, growth, folder / "figures")
    index = folder / "index.html"
    alone = won_alone(cells, findings.compared, episodes, with_trivial=with_trivial)
    text = experiment_page(cells, findings, episodes, alone, figures)
    index.write_text(text, encoding="utf-8")
    return index
