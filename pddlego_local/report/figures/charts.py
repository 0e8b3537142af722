"""Which figures a report has, from its series: a panel a system, in the order of the ladder."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from pddlego_local.report.cells import by_number
from pddlego_local.report.figures.plotting import (
    ENDINGS,
    Panel,
    draw_dots,
    draw_lines,
    drawing,
)
from pddlego_local.report.figures.series import Series
from pddlego_local.report.statistics.cell import NESTED, measure
from pddlego_local.report.statistics.rates import Rate

NAMES = ("success", "formalized", "trials", "tasks")
MOST_PANELS = 12
MOST_LINES = 10
LINES, DOT = 2.4, 0.4  # inches: a panel of lines, a dot with its name

Systems = Mapping[str, list[Series]]
"""{the title of a panel: what it shows}"""


@dataclass(frozen=True)
class Figure:
    """`name`.svg, `name`_dark.svg and `name`.png."""

    name: str
    caption: str


def draw_figures(series: Sequence[Series], folder: Path) -> list[Figure]:
    """Writes those for which there is something to show, and removes the others from the folder."""
    for name in NAMES:
        for ending in ENDINGS:
            (folder / f"{name}{ending}").unlink(missing_ok=True)
    systems = _grouped(series, "panel")
    figures = [
        _success_by_rung(systems, folder),
        _price_of_constraining(series, folder),
        _success_by_trial(systems, folder),
        _success_by_task(series, folder),
    ]
    return [figure for figure in figures if figure]


def _success_by_rung(systems: Systems, folder: Path) -> Figure | None:
    """Lines where a system was decoded in several ways; the others stand below each other."""
    if sum(map(len, systems.values())) < 2:
        return None
    panels: list[Panel] = []
    others: list[Series] = []
    for title, series in systems.items():
        rungs = list(dict.fromkeys(one.decoding for one in series))
        if len(rungs) == 1:
            others += series
            continue
        lines = {
            name: _points((rungs.index(one.decoding), one.measures.success) for one in alike)
            for name, alike in _grouped(series, "line").items()
        }
        panels.append(Panel(title, rungs, lines))
    return _lines("success", "Success", panels, folder, others)


def _price_of_constraining(series: Sequence[Series], folder: Path) -> Figure | None:
    """How far the answers of each model come in described worlds, rung by rung."""
    panels: list[Panel] = []
    for title, arms in _grouped(series, "arm").items():
        rungs = list(dict.fromkeys(one.decoding for one in arms))
        if len(rungs) > 1 and title.startswith("described, formalizer"):
            names = (*NESTED, "success", "valid_but_wrong")
            lines = {
                "valid in gold" if name == "success" else name.replace("_", " "): _points(
                    (rungs.index(one.decoding), getattr(one.measures, name)) for one in arms
                )
                for name in names
            }
            panels.append(Panel(title, rungs, lines))
    return _lines("formalized", "The price of constraining: how far answers come", panels, folder)


def _success_by_trial(systems: Systems, folder: Path) -> Figure | None:
    panels: list[Panel] = []
    for title, series in systems.items():
        lines = {one.name: _points(enumerate(one.trials)) for one in series if len(one.trials) > 1}
        if lines:
            last = max(len(one.trials) for one in series)
            trials = [str(trial) for trial in range(1, 1 + last)]
            panels.append(Panel(f"{title}: games solved by trial", trials, lines))
    return _lines("trials", "Games solved after each trial", panels, folder)


def _success_by_task(series: Sequence[Series], folder: Path) -> Figure | None:
    """Arms that differ in the environment's settings alone are one line: these make the tasks."""
    panels: list[Panel] = []
    for system, arms in _grouped(series, "system").items():
        tasks = sorted({task for one in arms for task in one.tasks}, key=by_number)
        if len(tasks) > 1:
            lines = {}
            for name, alike in _grouped(arms, "name").items():
                played = {task: rows for one in alike for task, rows in one.tasks.items()}
                lines[name] = _points(
                    (tasks.index(task), measure(rows).success) for task, rows in played.items()
                )
            panels.append(Panel(system, tasks, lines))
    return _lines("tasks", "Success by kind of task", panels, folder)


def _points(rates: Iterable[tuple[int, Rate]]) -> list[tuple[int, Rate]]:
    return sorted(((x, rate) for x, rate in rates if rate.n), key=itemgetter(0))


def _lines(
    name: str, caption: str, panels: Sequence[Panel], folder: Path, dots: Sequence[Series] = ()
) -> Figure | None:
    """The panels, and below them one of `dots`."""
    if not panels and not dots:
        return None
    shown = panels[:MOST_PANELS]
    heights = [LINES] * len(shown) + [0.6 + DOT * len(dots)] * bool(dots)
    with drawing(folder, name, heights) as axes:
        draw_lines(axes, shown, MOST_LINES)
        if dots:
            rates = [one.measures.success for one in dots]
            names = [f"{one.panel}: {one.name}, n = {one.measures.success.n}" for one in dots]
            draw_dots(axes[-1], "one decoding" if shown else "", names, rates)
    return Figure(name, f"{caption}, with intervals of 95 %{_left_out(panels)}")


def _grouped(series: Iterable[Series], attribute: str) -> dict[str, list[Series]]:
    groups: dict[str, list[Series]] = defaultdict(list)
    for one in series:
        groups[getattr(one, attribute)].append(one)
    return groups


def _left_out(panels: Sized) -> str:
    """Said where not every panel is drawn."""
    left = len(panels) - MOST_PANELS
    return f"; {left} more systems are in the tables alone" if left > 0 else ""
