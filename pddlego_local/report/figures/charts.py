"""Defines the figures of a report. Each system has a panel, in the order of the ladder.
Cells that differ only in their seed are one series, drawn as one bar or one point of a
line.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.record.counting import Also
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report import numbers
from pddlego_local.report.cells import CellRecord, by_number, varying_options
from pddlego_local.report.comparisons import Compared
from pddlego_local.report.figures import plotting
from pddlego_local.report.figures.plotting import Dot, Panel
from pddlego_local.report.measures import Measures, measure
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.verdicts import Verdict

CAPTIONS = {
    "success": "Success, with intervals of 95 %",
    "outcomes": "How the episodes of each arm ended",
    "formalized": "How far answers come, by rung, with intervals of 95 %",
    "trials": "Games solved after each trial, with intervals of 95 %",
    "tasks": "Success by kind of task, with intervals of 95 %",
}
"""The figures in their order, and what they show."""

HOW_FAR = {
    "read": "read",
    "accepted": "accepted",
    "has_plan": "has plan",
    "success": "valid in gold",
    "valid_but_wrong": "valid but wrong",
    "equivalent": "equivalent to gold",
}
"""The rates of answers in described worlds, with their names in the legend."""

MOST_PANELS = 12  # of all figures of a kind
MOST_IN_ONE = 2  # panels of a figure; further ones are in figures of their own
MOST_LINES = 10
MOST_STACKS = 24
LINES = 2.4  # the height of a panel with lines, in inches


@dataclass(frozen=True)
class Names:
    """What identifies a series.

    `system` is the environment and the method. `place` has the environment's settings
    and `line` the model with all other settings, if these differ between series.
    `decoding` is the label of the rung.
    """

    system: str
    place: str
    line: str
    decoding: str

    @property
    def panel(self) -> str:
        return f"{self.system} {self.place}".strip()

    @property
    def model(self) -> str:
        return self.line.split(" ")[0]

    @property
    def arm(self) -> str:
        return f"{self.panel}: {self.line}"

    @property
    def name(self) -> str:
        return f"{self.line}, {self.decoding}"

    @property
    def full_name(self) -> str:
        return f"{self.panel}: {self.name}"


@dataclass(frozen=True)
class Series(Names):
    """The results of cells that differ only in their seed.

    `tasks` has the scored episodes by kind of task, and `trials` the games solved after
    trial 1, 2, …, summed over seeds.
    """

    tasks: Mapping[str, Sequence[EpisodeRow]]
    trials: Sequence[Rate] = ()

    @cached_property
    def measures(self) -> Measures:
        rows = itertools.chain(*self.tasks.values())
        return measure([*rows])

    @property
    def success(self) -> Rate:
        return self.measures.success


def series_of(cells: Sequence[CellRecord], *, also: Also = ()) -> list[Series]:
    """Returns the series with scored episodes, in the order of the ladder, then in that
    of `cells`.
    """
    varying = varying_options(cells) - {"seed"}
    places = {name for name in varying if name.startswith("environment.")}

    def names(cell: CellRecord) -> Names:
        labels = cell.labels
        others = _short(cell.settings(varying - places))
        return Names(
            system=f"{labels['environment']}, {labels['method']}",
            place=_short(cell.settings(places)),
            line=f"{labels['model']} {others}".strip(),
            decoding=labels["decoding"],
        )

    in_order = sorted(cells, key=lambda cell: cell.rung)
    alike = grouped_by(in_order, names)
    every = [_series(key, group, also) for key, group in alike.items()]
    return [series for series in every if series.tasks]


def _series(names: Names, cells: Sequence[CellRecord], also: Also) -> Series:
    tasks = defaultdict[str, list[EpisodeRow]](list)
    trials = defaultdict[int, list[Rate]](list)
    for cell in cells:
        for task, rows in numbers.rows_by_task(cell, also=also).items():
            tasks[task] += rows
        for trial in numbers.success_after_trials(cell.rows, also=also):
            if trial.tasks == numbers.ALL:
                trials[trial.after_trial].append(trial.games_solved)
    solved = [_added_up(rates) for _, rates in sorted(trials.items())]
    return Series(**vars(names), tasks=tasks, trials=solved)


def _added_up(rates: Sequence[Rate]) -> Rate:
    """Sums rates over seeds. All seeds play the same games, so together they are worth
    no more independent samples than one of them.
    """
    k = sum(rate.k for rate in rates)
    n = sum(rate.n for rate in rates)
    return Rate(k, n, max(rate.worth for rate in rates))


def _short(settings: str) -> str:
    """Removes the config groups: "layout=line" for "decoding.layout=line"."""
    return re.sub(r"\b[\w.]+\.(?=\w+=)", "", settings)


def draw_figures(series: Sequence[Series], folder: Path) -> dict[str, str]:
    """Writes `name`.svg, `name`_dark.svg and `name`.png of each figure with something
    to show, removes the files of the others, and returns the captions by name. A kind
    of figure with many panels has several figures: `name`, `name`_2, …
    """
    for name in CAPTIONS:
        for number in range(MOST_PANELS):
            plotting.remove(folder, _numbered(name, number))
    systems = grouped_by(series, lambda arm: arm.panel)
    several = systems if len(series) > 1 else {}
    dots = list[Series]()
    for arms in several.values():
        if len(_rungs(arms)) == 1:
            dots += arms
    return {
        **_draw("success", _by_rung(several), folder, dots),
        **draw_outcomes(series, folder),
        **_draw("formalized", _how_far(series), folder),
        **_draw("trials", _by_trial(systems), folder),
        **_draw("tasks", _by_task(series), folder),
    }


def _numbered(name: str, number: int) -> str:
    return f"{name}_{number + 1}" if number else name


def draw_outcomes(series: Sequence[Series], folder: Path) -> dict[str, str]:
    """Draws how the episodes of each arm ended, with one bar for each arm and won games
    first. The arms of a model are next to each other, and what all arms share is in the
    title.
    """
    by_model = sorted(series, key=lambda arm: (arm.panel, arm.model))
    with_outcomes = [arm for arm in by_model if arm.measures.outcomes]
    shown = with_outcomes[:MOST_STACKS]
    every = Counter[str]()
    for arm in shown:
        every += arm.measures.outcomes
    if not shown:
        return {}

    def won_first(outcome: str) -> tuple[bool, int, str]:
        lost = not outcome_named(outcome).success
        return lost, -every[outcome], outcome

    # Success comes first, also where no game was won, so that no other outcome takes
    # its colour.
    order = list(dict.fromkeys(["success", *sorted(every, key=won_first)]))
    panels = {arm.panel for arm in shown}
    one_panel = len(panels) == 1
    title = "How episodes ended"
    if one_panel:
        title += f": {shown[0].panel}"
    stacks = {}
    for arm in shown:
        outcomes = arm.measures.outcomes
        n = outcomes.total()
        shares = {name.replace("_", " "): outcomes[name] / n for name in order}
        name = arm.name if one_panel else arm.full_name
        stacks[f"{name}, n = {n}"] = shares
    heights = [plotting.rows_height(len(stacks))]
    with plotting.drawing(folder, "outcomes", heights) as axes:
        plotting.draw_stacks(axes[0], title, stacks)
    left = len(series) - len(shown)
    return {"outcomes": _caption("outcomes", left, "arms")}


def _caption(name: str, left: int, what: str) -> str:
    caption = CAPTIONS[name]
    if left:
        caption += f"; {left} more {what} are only in the tables"
    return caption


def draw_differences(
    compared: Compared, found: Sequence[Verdict], folder: Path
) -> dict[str, str]:
    """Writes the figure of the tested comparisons: a row with the difference and
    interval of each, in the order of their declaration. Removes an earlier one if fewer
    than two have pairs.

    `found` are the verdicts on the comparisons. Returns the caption by the name of the
    figure.
    """
    plotting.remove(folder, "differences")
    rows = []
    for verdict in sorted(found, key=lambda verdict: verdict.number):
        comparison = compared.tested[verdict.number]
        if comparison.difference is not None:
            name = f"{verdict.title}, n = {comparison.pairs}"
            interval = comparison.new.interval
            rows.append(Dot(name, comparison.difference, interval))
    if len(rows) < 2:
        return {}
    heights = [plotting.rows_height(len(rows))]
    title = "Difference in success, on new maps"
    with plotting.drawing(folder, "differences", heights) as axes:
        plotting.draw_dots(axes[0], title, rows, differences=True)
    caption = (
        "Differences of the tested comparisons, each with the interval of its test"
    )
    return {"differences": caption}


def _by_rung(systems: Mapping[str, Sequence[Series]]) -> Iterator[Panel]:
    for title, arms in systems.items():
        lines = defaultdict[str, dict[str, Rate]](dict)
        for arm in arms:
            lines[arm.line][arm.decoding] = arm.success
        yield Panel(title, _rungs(arms), lines)


def _how_far(series: Sequence[Series]) -> Iterator[Panel]:
    """Yields a panel for the answers of each model in described worlds, rung by
    rung.
    """
    for title, arms in grouped_by(series, lambda arm: arm.arm).items():
        if not any(arm.measures.judged_by_gold for arm in arms):
            continue
        lines = {}
        for field, name in HOW_FAR.items():
            line = {arm.decoding: getattr(arm.measures, field) for arm in arms}
            if any(rate.n for rate in line.values()):
                lines[name] = line
        yield Panel(title, _rungs(arms), lines)


def _by_trial(systems: Mapping[str, Sequence[Series]]) -> Iterator[Panel]:
    for title, arms in systems.items():
        last = max(len(arm.trials) for arm in arms)
        trials = [str(trial) for trial in range(1, last + 1)]
        lines = {
            arm.name: dict(zip(trials, arm.trials, strict=False))
            for arm in arms
            if len(arm.trials) > 1
        }
        yield Panel(f"{title}: games solved by trial", trials, lines)


def _by_task(series: Sequence[Series]) -> Iterator[Panel]:
    """Arms that differ only in the environment's settings are one line: the settings
    define the tasks.
    """
    for system, arms in grouped_by(series, lambda arm: arm.system).items():
        lines = defaultdict[str, dict[str, Rate]](dict)
        tasks = set[str]()
        for arm in arms:
            for task, rows in arm.tasks.items():
                tasks.add(task)
                lines[arm.name][task] = measure(rows).success
        yield Panel(system, sorted(tasks, key=by_number), lines)


def _rungs(series: Iterable[Series]) -> list[str]:
    return list(dict.fromkeys(arm.decoding for arm in series))


def _draw(
    name: str,
    panels: Iterable[Panel],
    folder: Path,
    dots: Sequence[Series] = (),
) -> dict[str, str]:
    """Draws the panels with two or more ticks, and after them one panel of `dots`.
    Returns the captions of the figures.
    """
    wide = [panel for panel in panels if len(panel.ticks) > 1]
    shown = wide[:MOST_PANELS]
    begins = range(0, len(shown), MOST_IN_ONE)
    figures = [shown[begin : begin + MOST_IN_ONE] for begin in begins]
    captions = {}
    for number, of_figure in enumerate(figures):
        figure = _numbered(name, number)
        with plotting.drawing(folder, figure, [LINES] * len(of_figure)) as axes:
            plotting.draw_lines(axes, of_figure, MOST_LINES)
        captions[figure] = CAPTIONS[name]
    if dots:
        figure = _numbered(name, len(figures))
        rows = [_dot(arm) for arm in dots]
        heights = [plotting.rows_height(len(rows))]
        with plotting.drawing(folder, figure, heights) as axes:
            title = "one decoding" if figures else ""
            plotting.draw_dots(axes[0], title, rows, differences=False)
        captions[figure] = CAPTIONS[name]
    left = len(wide) - len(shown)
    if left:
        captions[name] = _caption(name, left, "systems")
    return captions


def _dot(arm: Series) -> Dot:
    rate = arm.success
    name = f"{arm.full_name}, n = {rate.n}"
    return Dot(name, rate.share or 0.0, rate.interval)
