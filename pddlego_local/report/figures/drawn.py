"""Which figures a report has, from its series: a panel a system, in the order of the ladder."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pddlego_local.core.outcomes import CAUSES
from pddlego_local.report.cells import by_number
from pddlego_local.report.figures.drawing import (
    ENDINGS,
    Line,
    draw_bars,
    draw_dots,
    draw_lines,
    draw_stacks,
    drawing,
)
from pddlego_local.report.figures.growth import Growth
from pddlego_local.report.figures.series import Series
from pddlego_local.report.statistics.rates import Rate

NAMES = ("success", "trials", "tasks", "causes", "cost", "growth")
MOST_PANELS = 12
MOST_LINES = 10
LINES, BAR = 2.4, 0.4  # inches: a panel of lines, a bar with its name

Panels = Mapping[str, list[Series]]


@dataclass(frozen=True)
class Figure:
    """`name`.svg, `name`_dark.svg and `name`.png."""

    name: str
    caption: str


def draw_figures(
    series: Sequence[Series], growth: Mapping[Path, Growth], folder: Path
) -> list[Figure]:
    """Writes those for which there is something to show, and removes the others from the folder;
    `growth` is that of each cell's series."""
    for name in NAMES:
        for ending in ENDINGS:
            (folder / f"{name}{ending}").unlink(missing_ok=True)
    panels = _panels(series, _panel)
    drawn = [
        _success_by_rung(panels, folder),
        _success_by_trial(panels, folder),
        _success_by_task(series, folder),
        _causes(panels, folder),
        _cost(panels, folder),
        _growth(panels, growth, folder),
    ]
    return [figure for figure in drawn if figure]


def _success_by_rung(panels: Panels, folder: Path) -> Figure | None:
    """Lines where a system was decoded in several ways; the others stand below each other."""
    if sum(map(len, panels.values())) < 2:
        return None
    ladders = {title: series for title, series in panels.items() if len(_rungs(series)) > 1}
    others = [one for title, series in panels.items() if title not in ladders for one in series]
    shown = _first(ladders)
    heights = [LINES] * len(shown) + [0.6 + BAR * len(others)] * bool(others)
    names = list(dict.fromkeys(one.line for series in shown.values() for one in series))
    with drawing(folder, "success", heights) as axes:
        for axis, (title, series) in zip(axes, shown.items(), strict=False):
            rungs = _rungs(series)
            lines = [
                _rates(name, [(rungs.index(a.decoding), a.measures.success) for a in alike])
                for name, alike in _panels(series, lambda one: one.line).items()
            ]
            draw_lines(axis, title, lines[:MOST_LINES], names, rungs)
            axis.set_ylim(-0.03, 1.03)
            axis.set_ylabel("success")
        if others:
            rates = [one.measures.success for one in others]
            told = [f"{one.panel}: {one.name}, n = {one.measures.success.n}" for one in others]
            shares = [rate.share or 0.0 for rate in rates]
            title = "one decoding" if shown else ""
            draw_dots(axes[-1], title, told, shares, [rate.interval for rate in rates])
    return Figure("success", "Success, with intervals of 95 %" + _left_out(ladders))


def _success_by_trial(panels: Panels, folder: Path) -> Figure | None:
    several = _panels([a for many in panels.values() for a in many if len(a.trials) > 1], _panel)
    if not several:
        return None
    shown = _first(several)
    names = list(dict.fromkeys(one.name for series in shown.values() for one in series))
    with drawing(folder, "trials", [LINES] * len(shown)) as axes:
        for axis, (title, series) in zip(axes, shown.items(), strict=True):
            lines = [_rates(one.name, list(enumerate(one.trials))) for one in series]
            trials = range(1, 1 + max(len(one.trials) for one in series))
            title = f"{title}: games solved by trial"
            draw_lines(axis, title, lines[:MOST_LINES], names, list(map(str, trials)))
            axis.set_ylim(-0.03, 1.03)
    caption = "Games solved after each trial, with intervals of 95 %"
    return Figure("trials", caption + _left_out(several))


def _success_by_task(series: Sequence[Series], folder: Path) -> Figure | None:
    """Arms that differ in the environment's settings alone are one line: these make the tasks."""
    panels = {
        system: lines
        for system, alike in _panels(series, lambda one: one.system).items()
        if len({task for one in alike for task in one.tasks}) > 1
        for lines in [_panels(alike, lambda one: one.name)]
    }
    if not panels:
        return None
    shown = dict(list(panels.items())[:MOST_PANELS])
    names = list(dict.fromkeys(name for named in shown.values() for name in named))
    with drawing(folder, "tasks", [LINES] * len(shown)) as axes:
        for axis, (title, named) in zip(axes, shown.items(), strict=True):
            tasks = sorted(
                {task for alike in named.values() for one in alike for task in one.tasks},
                key=by_number,
            )
            lines = [
                _rates(name, [(tasks.index(t), r) for t, r in _by_task(alike).items()])
                for name, alike in named.items()
            ]
            draw_lines(axis, title, lines[:MOST_LINES], names, tasks)
            axis.set_ylim(-0.03, 1.03)
            axis.set_ylabel("success")
    return Figure("tasks", "Success by kind of task, with intervals of 95 %" + _left_out(panels))


def _causes(panels: Panels, folder: Path) -> Figure | None:
    asked = _panels([a for series in panels.values() for a in series if a.measures.causes], _panel)
    shown = _first(asked)
    seen = {cause for series in shown.values() for one in series for cause in one.measures.causes}
    if not seen:
        return None
    heights = [0.6 + BAR * len(series) for series in shown.values()]
    with drawing(folder, "causes", heights) as axes:
        for axis, (title, series) in zip(axes, shown.items(), strict=True):
            totals = [sum(one.measures.causes.values()) for one in series]
            parts = {
                (number, cause): [
                    one.measures.causes[cause] / total
                    for one, total in zip(series, totals, strict=True)
                ]
                for number, cause in enumerate(cause for cause in CAUSES if cause in seen)
                if any(one.measures.causes[cause] for one in series)
            }
            names = [f"{one.name}, n = {n}" for one, n in zip(series, totals, strict=True)]
            draw_stacks(axis, title, names, parts)
    return Figure("causes", "What came of the answers, as shares of calls" + _left_out(asked))


def _cost(panels: Panels, folder: Path) -> Figure | None:
    """What all episodes of a series took, lost ones too, for each success: a game is one, however
    many of its trials were no longer played because it was solved."""
    won = {t: series for t, series in panels.items() if any(one.solved for one in series)}
    bars: dict[str, tuple[list[str], list[float | None]]] = {}
    for title, series in _first(won).items():
        for what, name in (("sampled tokens", "sampled_tokens"), ("calls", "calls")):
            values = [per_success(one, name) for one in series]
            if any(values):
                bars[f"{title}: {what} per success"] = ([one.name for one in series], values)
    if not bars:
        return None
    with drawing(folder, "cost", [0.6 + BAR * len(names) for names, _ in bars.values()]) as axes:
        for axis, (title, (names, values)) in zip(axes, bars.items(), strict=True):
            draw_bars(axis, title, names, values)
    caption = "What a success costs: all that a series took, in lost games too, for each game won"
    return Figure("cost", caption + _left_out(won))


def per_success(one: Series, count: str) -> float | None:
    """A count of all rows for each game solved; None without any."""
    total: int = sum(getattr(row, count) for rows in one.tasks.values() for row in rows)
    return total / one.solved if one.solved else None


def _growth(panels: Panels, growth: Mapping[Path, Growth], folder: Path) -> Figure | None:
    grown: list[tuple[str, list[Line]]] = []
    for title, series in _first(panels).items():
        for what in ("facts", "objects"):
            means = {one.name: growth[one.cells[0]].means[what] for one in series}
            lines = [Line(name, list(mean.items())) for name, mean in means.items() if mean]
            if any(len(line.points) > 1 for line in lines):
                grown.append((f"{title}: {what} by step", lines))
    if not grown:
        return None
    names = list(dict.fromkeys(line.name for _, lines in grown for line in lines))
    with drawing(folder, "growth", [LINES] * len(grown)) as axes:
        for axis, (title, lines) in zip(axes, grown, strict=True):
            draw_lines(axis, title, lines[:MOST_LINES], names)
    caption = "What the problems list, step by step: means of the episodes that came to the step"
    return Figure("growth", caption + _left_out(panels))


def _rates(name: str, rates: Sequence[tuple[int, Rate]]) -> Line:
    shown = [(x, rate) for x, rate in sorted(rates, key=lambda pair: pair[0]) if rate.n]
    points = [(x, rate.share or 0.0) for x, rate in shown]
    return Line(name, points, [rate.interval for _, rate in shown])


def _by_task(series: Sequence[Series]) -> dict[str, Rate]:
    tasks = {task: rows for one in series for task, rows in one.tasks.items()}
    return {
        task: replace(series[0], tasks={task: rows}).measures.success
        for task, rows in tasks.items()
    }


def _panels(series: Sequence[Series], name: Callable[[Series], str]) -> dict[str, list[Series]]:
    panels: dict[str, list[Series]] = defaultdict(list)
    for one in series:
        panels[name(one)].append(one)
    return panels


def _panel(one: Series) -> str:
    return one.panel


def _rungs(series: Sequence[Series]) -> list[str]:
    return list(dict.fromkeys(one.decoding for one in series))


def _first(panels: Panels) -> dict[str, list[Series]]:
    return dict(list(panels.items())[:MOST_PANELS])


def _left_out(panels: Mapping[str, object]) -> str:
    """Said where not every panel is drawn."""
    left = len(panels) - MOST_PANELS
    return f"; {left} more systems are in the tables alone" if left > 0 else ""
