"""What the first page shows: the verdicts with a figure next to them, then the report's tables, the
other figures, all episodes, and how they were run."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from pddlego_local.core.visible import visible
from pddlego_local.report.cells import LABELS, CellRecord, by_number, varying_options
from pddlego_local.report.comparisons import Compared
from pddlego_local.report.figures.charts import Figure
from pddlego_local.report.numbers import Numbers
from pddlego_local.report.pages.links import EpisodeLink, GameTrial
from pddlego_local.report.pages.rendering import page
from pddlego_local.report.text import (
    LABEL_COLUMNS,
    TextRow,
    cell_text,
    notes,
    result_tables,
    split_common,
    unsaid_columns,
)
from pddlego_local.report.verdicts import declared_in_words, verdicts
from pddlego_local.runner.provenance import words_of

OF_A_START = ("backend_version", "commit", "dirty", "python", "packages", "machine")
FIRST_FIGURE = ("trials", "success")
"""The first of these that there is stands next to the verdicts."""

MOST_VERDICTS = 8  # that are open on the first screen
FIRST_COLUMNS = (
    "finished", "games", "success", "of what was asked", "games solved", "calls", "sampled tokens",
)  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """What a report found. `tables` are those that a page shows as they are, in Markdown."""

    numbers: Numbers
    compared: Compared
    tables: str


def experiment_page(
    cells: Sequence[CellRecord],
    findings: Findings,
    links: Sequence[Mapping[GameTrial, EpisodeLink]],
    figures: Sequence[Figure],
) -> str:
    """HTML. `links` are the episodes of each cell; the figures lie in the folder figures/."""
    episodes = [link for of_cell in links for link in of_cell.values()]
    of_cells = _of_cells(cells)
    choices = _choices([of_cells[link.cell] | link.filters for link in episodes])
    drawn = {figure.name: figure for figure in figures}
    first = next((drawn.pop(name) for name in FIRST_FIGURE if name in drawn), None)
    main, *others = result_tables(findings.numbers)
    return page(
        "experiment.html.jinja",
        styles=["common.css", "experiment.css"],
        script="tables.js",
        title=", ".join(dict.fromkeys(cell.folder.parent.name for cell in cells)),
        declared=declared_in_words(findings.compared),
        verdicts=verdicts(findings.compared),
        tested=findings.compared.tested,
        MOST=MOST_VERDICTS,
        first_rows=_first_rows(findings.numbers),
        FOUND_FIRST=set(FIRST_COLUMNS) - {"games"},
        all_columns=main[1],
        other_results=others,
        split_common=split_common,
        notes=notes(findings.numbers),
        tables=_html(findings.tables),
        first_figure=first,
        figures=list(drawn.values()),
        episodes=episodes,
        link_of={id(link.row): link for link in episodes},
        id=id,
        of_cells=of_cells,
        choices=choices,
        columns=[name for name in choices if name not in ("cell", "outcome", "answer")],
        starts=_starts(cells),
        cells=cells,
    )


def _first_rows(numbers: Numbers) -> list[TextRow]:
    """For each cell what tells it apart, and what answers."""
    unsaid = unsaid_columns(numbers)
    if not any(cell.episodes.missing for cell in numbers.cells):
        unsaid.add("finished")
    names = [name for name in (*LABEL_COLUMNS, *FIRST_COLUMNS) if name not in unsaid]
    return [{name: cell_text(cell)[name] for name in names} for cell in numbers.cells]


def _of_cells(cells: Sequence[CellRecord]) -> list[dict[str, list[str]]]:
    """What the episodes of each cell can be filtered by."""
    varying = varying_options(cells)
    return [
        {"cell": [str(number)]}
        | {label: [cell.labels[label]] for label in LABELS}
        | {"settings": [cell.settings(varying)]}
        for number, cell in enumerate(cells)
    ]


def _choices(values: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Names by which episodes differ, each with its values in order."""
    choices: dict[str, set[str]] = {}
    for episode in values:
        for name, of_episode in episode.items():
            choices.setdefault(name, set()).update(of_episode)
    return {name: sorted(every, key=by_number) for name, every in choices.items() if len(every) > 1}


def _starts(cells: Iterable[CellRecord]) -> list[tuple[dict[str, Any], list[str]]]:
    """Each way in which cells were started, with the cells, in the order of their first one."""
    starts: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for cell in cells:
        for recorded in cell.run.starts:
            start = {name: getattr(recorded, name) for name in OF_A_START}
            start["command"] = words_of(recorded.command or [])
            start["command_line"] = shlex.join(start["command"])
            start |= {name: start[name] or {} for name in ("packages", "machine")}
            names = starts.setdefault(repr(start), (start, []))[1]
            if cell.folder.name not in names:
                names.append(cell.folder.name)
    return list(starts.values())


def _html(report: str) -> Markup:
    """Markdown as HTML, with tables that scroll; HTML in it is text."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    html: str = reader.render(visible(report))
    html = html.replace("<table>", '<div class="wide"><table>')
    return Markup(html.replace("</table>", "</table></div>"))
