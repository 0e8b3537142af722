"""What the first page shows: the report's tables, figures, all episodes, and how they were run."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from pddlego_local.report.cells import LABELS, CellRecord
from pddlego_local.report.figures.drawn import Figure
from pddlego_local.report.pages.rendering import page
from pddlego_local.rows import EpisodeRow
from pddlego_local.visible import visible

OF_A_START = ("backend_version", "commit", "dirty", "python", "packages", "machine")


@dataclass(frozen=True)
class Listed:
    """One episode; `values` are what it can be filtered by, `address` its page, "" without one."""

    row: EpisodeRow
    values: Mapping[str, Sequence[str]]
    address: str


def experiment_page(
    cells: Sequence[CellRecord],
    report: str,
    episodes: Sequence[Listed],
    figures: Sequence[Figure] = (),
) -> str:
    """HTML. `report` are the tables in Markdown; the figures lie in the folder figures/."""
    choices = _choices(episodes)
    return page(
        "experiment.html.jinja",
        script="filters.js",
        title=", ".join(dict.fromkeys(cell.folder.parent.name for cell in cells)),
        tables=_html(report),
        figures=figures,
        episodes=episodes,
        choices=choices,
        columns=[name for name in choices if name not in ("outcome", "answer")],
        starts=_starts(cells),
        cells=cells,
    )


def listed(
    cell: CellRecord, row: EpisodeRow, address: str, settings: str, apart: str = ""
) -> Listed:
    """`settings` tell cells with the same labels apart; `apart` says why a game does not count."""
    values: dict[str, Sequence[str]] = {
        "outcome": [row.outcome],
        "counts": [f"no: {apart}" if apart else "yes"],
        "answer": sorted(row.causes),
        **{label: [cell.labels[label]] for label in LABELS},
        "tasks": [row.task_type],
        "settings": [settings],
    }
    return Listed(row, values, address)


def _choices(episodes: Iterable[Listed]) -> dict[str, list[str]]:
    """Names by which episodes differ, each with its values in alphabetical order."""
    choices: dict[str, set[str]] = {}
    for episode in episodes:
        for name, values in episode.values.items():
            choices.setdefault(name, set()).update(values)
    return {name: sorted(values) for name, values in choices.items() if len(values) > 1}


def _starts(cells: Iterable[CellRecord]) -> list[tuple[dict[str, Any], list[str]]]:
    """Each way in which cells were started, with the cells, in the order of their first one."""
    starts: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for cell in cells:
        for recorded in cell.run["starts"]:
            start = {name: recorded.get(name) for name in OF_A_START}
            start["command"] = recorded.get("command") or []
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
