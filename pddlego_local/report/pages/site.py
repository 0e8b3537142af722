"""The pages of a report as files: index.html, episodes/<cell>/<game>-<trial>.html, figures/."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from pddlego_local.metrics.counting import reasons
from pddlego_local.record import read_events, transcript_of
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.figures.drawn import draw_figures
from pddlego_local.report.figures.growth import Growth
from pddlego_local.report.figures.series import series_of
from pddlego_local.report.pages.episode import episode_page
from pddlego_local.report.pages.experiment import Listed, experiment_page, listed


def write_pages(
    cells: Sequence[CellRecord], report: str, folder: Path, *, with_trivial: bool = False
) -> Path:
    """Writes one page after the other, then the figures, and returns the first page. `report` are
    the report's tables in Markdown; figures count trivial games if `with_trivial`.

    Raises ConfigError if a transcript cannot be read, and OSError.
    """
    series = series_of(cells, with_trivial=with_trivial)
    growth = {path: grown for one in series for grown in [Growth()] for path in one.cells}
    episodes: list[Listed] = []
    varying = varying_options(cells)
    for cell, name in _named(cells):
        (folder / "episodes" / name).mkdir(parents=True, exist_ok=True)
        apart = reasons(cell.rows)
        for row in cell.rows:
            transcript = transcript_of(cell.folder, row.game, row.trial)
            address = ""
            if transcript.exists():
                path = Path("episodes", name, f"{transcript.stem}.html")
                address = quote(path.as_posix())
                events = read_events(transcript)
                text = episode_page(cell, transcript.stem, events, "../../index.html#episodes")
                (folder / path).write_text(text, encoding="utf-8")
                if cell.folder in growth:
                    growth[cell.folder].read(events)
            episodes.append(listed(cell, row, address, cell.settings(varying), apart[row.game]))
    figures = draw_figures(series, growth, folder / "figures")
    index = folder / "index.html"
    index.write_text(experiment_page(cells, report, episodes, figures), encoding="utf-8")
    return index


def _named(cells: Sequence[CellRecord]) -> Iterator[tuple[CellRecord, str]]:
    """Each cell with a folder name of its own: two experiments may hold the same cell."""
    taken: set[str] = set()
    for cell in cells:
        name, number = cell.folder.name, 1
        while name in taken:
            number += 1
            name = f"{cell.folder.name}-{number}"
        taken.add(name)
        yield cell, name
