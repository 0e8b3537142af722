"""Writes the pages of a report: index.html, episodes/<cell>/<game>-<trial>.html and
figures/.

index.html shows a line for each tested comparison, how the episodes ended, the games
that one arm alone won, then the report's tables, the other figures, all episodes, and
how they were run.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup

from pddlego_local.core.record.counting import Also
from pddlego_local.core.record.run_record import Start
from pddlego_local.core.visible import visible
from pddlego_local.report import text
from pddlego_local.report.cells import LABELS, CellRecord, by_number, varying_options
from pddlego_local.report.comparisons import Compared
from pddlego_local.report.figures.charts import (
    draw_differences,
    draw_figures,
    series_of,
)
from pddlego_local.report.first_screen import axis_of, difference
from pddlego_local.report.map.drawing import Album
from pddlego_local.report.numbers import Numbers
from pddlego_local.report.pages.episode import episode_page
from pddlego_local.report.pages.failure import progress_of
from pddlego_local.report.pages.links import (
    EpisodeLink,
    Links,
    cells_by_factor,
    episode_links,
    with_neighbours,
)
from pddlego_local.report.pages.maps import Moment, Reference, moments_of
from pddlego_local.report.pages.rendering import page
from pddlego_local.report.verdicts import declared_in_words, history_in_words, verdicts

OF_A_START = ("backend_version", "commit", "dirty", "python", "packages", "machine")
ENDED = "outcomes"
"""The figure below the verdicts, if it exists."""

MOST_VERDICTS = 8  # visible on the first screen
MOST_MAPS = 40  # of games that one arm won alone
FIRST_COLUMNS = (
    "finished", "games", "success", "of all requested", "games solved", "calls",
    "tokens of answers",
)  # fmt: skip


def write_pages(
    cells: Sequence[CellRecord],
    numbers: Numbers,
    compared: Compared,
    tables: str,
    papers: str,
    folder: Path,
    unfinished: str,
    *,
    also: Also = (),
) -> Path:
    """Writes the pages of episodes, the figures and index.html, and returns the path of
    index.html.

    `tables` and `papers` are Markdown that index.html includes. `unfinished` is shown
    at its top.
    `also` are the reasons for exclusion to ignore, as in the tables. Raises OSError.
    """
    links = episode_links(cells)
    for cell, links_of_cell, others in zip(
        cells, links, cells_by_factor(cells), strict=True
    ):
        reference = Reference.of(cell.run)
        for link, neighbours in with_neighbours(links, links_of_cell, others):
            path = folder / link.path
            path.parent.mkdir(parents=True, exist_ok=True)
            shown = episode_page(cell, link, neighbours, reference, _back(link))
            path.write_text(shown, encoding="utf-8")
    figures = draw_figures(series_of(cells, also=also), folder / "figures")
    found = verdicts(compared)
    figures |= draw_differences(compared, found, folder / "figures")
    index = folder / "index.html"
    facts = {
        "tables": _html(tables),
        "papers": _html(papers.partition("\n")[2]),  # without its heading
        "unfinished": unfinished,
        "verdicts": found,
    }
    page_text = _first_page(cells, links, numbers, compared, figures, **facts)
    index.write_text(page_text, encoding="utf-8")
    return index


def _back(link: EpisodeLink) -> list[tuple[str, str]]:
    index = "../../index.html"
    return [("report", index), ("episodes of this arm", f"{index}#cell={link.cell}")]


def _first_page(
    cells: Sequence[CellRecord],
    links: Sequence[Links],
    numbers: Numbers,
    compared: Compared,
    figures: dict[str, str],
    **facts: object,
) -> str:
    """`facts` are further variables of the template."""
    main, *others = text.result_tables(numbers)
    return page(
        "experiment.html.jinja",
        styles=["common.css", "experiment.css", "map.css"],
        script="tables.js",
        title=", ".join(dict.fromkeys(cell.folder.parent.name for cell in cells)),
        declared=declared_in_words(compared),
        history=history_in_words(compared),
        tested=compared.tested,
        axis=axis_of(compared),
        difference=difference,
        MOST=MOST_VERDICTS,
        MOST_CARDS=MOST_MAPS,
        first_rows=_first_rows(numbers),
        FOUND_FIRST=set(FIRST_COLUMNS) - {"games"},
        all_columns=main[1],
        other_results=others,
        split_common=text.split_common,
        notes=text.result_notes(numbers),
        inline=_inline,
        ended_figure=(ENDED, figures[ENDED]) if ENDED in figures else None,
        figures={name: figures[name] for name in figures if name != ENDED},
        starts=_starts(cells),
        shell=shlex.join,
        cells=cells,
        failures=_failures(cells, links, compared),
        lost=_lost(links),
        **_episodes(cells, links),
        **facts,
    )


class _Failure(NamedTuple):
    """Where an arm failed: the map of its last problem file, which is of this step, and
    what was refused.
    """

    map: Markup
    refused: str
    why: str
    step: int


def _failures(
    cells: Sequence[CellRecord], links: Sequence[Links], compared: Compared
) -> dict[int, _Failure]:
    """Returns the failures in games that the other arm won, by the id of the row; if
    nothing is compared, those in all lost games. At most MOST_MAPS have one, so that a
    page stays small.
    """
    cell_of = {
        id(link.row): cells[number]
        for number, of_cell in enumerate(links)
        for link in of_cell.values()
    }
    lost = [
        row
        for found in compared.tested
        for pair in found.discordant
        for row in (pair.other if pair.base_won else pair.base)
    ]
    if not compared.tested:
        lost = [link.row for link in _lost(links)]
    failures = {}
    by_id = {id(row): row for row in lost}
    for key, row in list(by_id.items())[:MOST_MAPS]:
        cell = cell_of[key]
        events, _ = cell.events(row)
        moments = moments_of(events, Reference.of(cell.run))
        if moments:
            progress = progress_of(events)
            drawn = _believed(moments[-1])
            step = moments[-1].plan.where.step
            failures[key] = _Failure(drawn, progress.refused, progress.why, step)
    return failures


def _lost(links: Sequence[Links]) -> list[EpisodeLink]:
    """Returns the scored episodes that were lost."""
    episodes = [link for of_cell in links for link in of_cell.values()]
    return [link for link in episodes if not link.apart and not link.row.success]


def _believed(moment: Moment) -> Markup:
    """Draws what the model believed, with wrong facts marked."""
    wrong = moment.differences.wrong if moment.differences else ()
    return Album([moment.world]).draw(0, dict.fromkeys(wrong, "wrong"))


def _episodes(cells: Sequence[CellRecord], links: Sequence[Links]) -> dict[str, Any]:
    """The template variables for the table of episodes and its filters."""
    episodes = [link for of_cell in links for link in of_cell.values()]
    varying = varying_options(cells)
    of_cells = list[dict[str, list[str]]]()
    for number, cell in enumerate(cells):
        filters = {"cell": [str(number)]}
        for label in LABELS:
            filters[label] = [cell.labels[label]]
        filters["settings"] = [cell.settings(varying)]
        of_cells.append(filters)
    found = defaultdict[str, set[str]](set)
    for link in episodes:
        for name, values in {**of_cells[link.cell], **link.filters}.items():
            found[name].update(values)
    choices = {
        name: sorted(values, key=by_number)
        for name, values in found.items()
        if len(values) > 1
    }
    return {
        "episodes": episodes,
        "link_of": {id(link.row): link for link in episodes},
        "id": id,
        "of_cells": of_cells,
        "choices": choices,
        "columns": [
            name for name in choices if name not in ("cell", "outcome", "answer")
        ],
    }


def _first_rows(numbers: Numbers) -> list[text.TextRow]:
    """Returns a row for each cell with its labels and its main results."""
    unsaid = text.unsaid_columns(numbers)
    columns = [*text.LABEL_COLUMNS, *FIRST_COLUMNS]
    shown = [name for name in columns if name not in unsaid]
    rows = [text.cell_text(cell) for cell in numbers.cells]
    return [{name: row[name] for name in shown} for row in rows]


class _Started(NamedTuple):
    """The first start of its kind, and the names of all cells that have one."""

    start: Start
    cells: list[str]


def _starts(cells: Iterable[CellRecord]) -> list[_Started]:
    """Returns each way in which cells were started and its cells, in the order of the
    first cells.
    """
    found = dict[str, _Started]()
    for cell in cells:
        folder = cell.folder.name
        for start in cell.run.starts:
            recorded = [getattr(start, name) for name in OF_A_START]
            way = repr((start.command, recorded))
            started = found.setdefault(way, _Started(start, []))
            if folder not in started.cells:
                started.cells.append(folder)
    return [*found.values()]


def _inline(sentences: str) -> Markup:
    """Converts text to HTML; only `code` is read as Markdown."""
    reader = MarkdownIt("zero").enable("backticks")
    return Markup(reader.renderInline(visible(sentences)))


def _html(report: str) -> Markup:
    """Converts Markdown to HTML with scrollable tables. HTML in it is escaped."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    html: str = reader.render(visible(report))
    html = html.replace("<table>", '<div class="wide"><table>')
    return Markup(html.replace("</table>", "</table></div>"))
