"""What the first page shows: the answer, with a figure beside it, then the report's tables, the
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
from pddlego_local.report.figures.drawn import Figure
from pddlego_local.report.numbers import Numbers
from pddlego_local.report.pages.listed import Key, Listed
from pddlego_local.report.pages.rendering import page
from pddlego_local.report.pages.results import results
from pddlego_local.report.pages.won_alone import WonAlone
from pddlego_local.report.verdicts import answers, question
from pddlego_local.runner.provenance import words_of

OF_A_START = ("backend_version", "commit", "dirty", "python", "packages", "machine")
BESIDE = ("trials", "success")
"""Figures that may stand beside the answer, the first that there is."""

MOST_VERDICTS = 8  # that are open on the first screen


@dataclass(frozen=True)
class Findings:
    """What a report found. `tables` are those that a page shows as they are, in Markdown."""

    numbers: Numbers
    compared: Compared
    tables: str


def experiment_page(
    cells: Sequence[CellRecord],
    findings: Findings,
    episodes: Sequence[Mapping[Key, Listed]],
    alone: Sequence[WonAlone],
    figures: Sequence[Figure],
) -> str:
    """HTML. `episodes` are those of each cell, `alone` the games that one arm won alone, of each
    tested comparison; the figures lie in the folder figures/."""
    listed = [one for many in episodes for one in many.values()]
    of_cells = _of_cells(cells)
    choices = _choices([of_cells[one.cell] | one.values for one in listed])
    drawn = {figure.name: figure for figure in figures}
    first = next((drawn.pop(name) for name in BESIDE if name in drawn), None)
    return page(
        "experiment.html.jinja",
        styles=["common.css", "experiment.css"],
        script="tables.js",
        title=", ".join(dict.fromkeys(cell.folder.parent.name for cell in cells)),
        question=question(findings.compared),
        answers=answers(findings.compared),
        alone=alone,
        MOST=MOST_VERDICTS,
        results=results(findings.numbers, [f"#cell={number}" for number in range(len(cells))]),
        tables=_html(findings.tables),
        first_figure=first,
        figures=list(drawn.values()),
        episodes=listed,
        of_cells=of_cells,
        choices=choices,
        columns=[name for name in choices if name not in ("cell", "outcome", "answer")],
        starts=_starts(cells),
        cells=cells,
    )


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
        for name, told in episode.items():
            choices.setdefault(name, set()).update(told)
    return {name: sorted(told, key=by_number) for name, told in choices.items() if len(told) > 1}


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
