"""The pages of a report as files: index.html, episodes/<cell>/<game>-<trial>.html, figures/."""

from collections.abc import Sequence
from pathlib import Path

from pddlego_local.report.cells import CellRecord
from pddlego_local.report.figures.charts import draw_figures
from pddlego_local.report.figures.series import series_of
from pddlego_local.report.pages.episode import episode_page
from pddlego_local.report.pages.experiment import Findings, experiment_page
from pddlego_local.report.pages.links import cells_by_factor, episode_links, with_neighbours


def write_pages(
    cells: Sequence[CellRecord], findings: Findings, folder: Path, *, with_trivial: bool = False
) -> Path:
    """Writes one page after the other, then the figures, and returns the first page. Figures count
    trivial games if `with_trivial`. Raises OSError."""
    links, by_factor = episode_links(cells), cells_by_factor(cells)
    for number, cell in enumerate(cells):
        for link, neighbours in with_neighbours(links, number, by_factor[number]):
            events, unreadable = cell.events(link.row)
            path = folder / link.path
            path.parent.mkdir(parents=True, exist_ok=True)
            text = episode_page(cell, link, events, neighbours, unreadable)
            path.write_text(text, encoding="utf-8")
    series = series_of(cells, with_trivial=with_trivial)
    figures = draw_figures(series, folder / "figures")
    index = folder / "index.html"
    index.write_text(experiment_page(cells, findings, links, figures), encoding="utf-8")
    return index
