"""Defines the figures of a report. Each system has a panel, in the order of the ladder.
Cells that differ only in their seed are one series, drawn as one bar or one point of a
line.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pddlego_local.core.grouping import grouped
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.record.counting import Also
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report import numbers
from pddlego_local.report.cells import CellRecord, by_number, varying_options
from pddlego_local.report.comparisons import Compared
from pddlego_local.report.figures import plotting
from pddlego_local.report.figures.plotting import Dot, Panel
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.verdicts import Verdict

NAMES = ("success", "outcomes", "formalized", "trials", "tasks")
HOW_FAR = {name: name.replace("_", " ") for name in numbers.NESTED} | {
    "success": "valid in gold",
    "valid_but_wrong": "valid but wrong",
    "equivalent": "equivalent to gold",
}
"""The rates of answers in described worlds, with their names in the legend."""

MOST_PANELS = 12
MOST_LINES = 10
MOST_STACKS = 24
LINES = 2.4  # the height of a panel with lines, in inches


@dataclass(frozen=True)
class Series:
    """The results of cells that differ only in their seed.

    `system` is the environment and the method. `place` has the environment's settings
    and `line` the model with all other settings, if these differ between series.
    `decoding` is the label of the rung. `tasks` has the scored episodes by kind of
    task, and `trials` the games solved after trial 1, 2, …, summed over seeds.
    """

    system: str
    place: str
    line: str
    decoding: str
    tasks: Mapping[str, Sequence[EpisodeRow]]
    trials: Sequence[Rate] = ()

    @cached_property
    def measures(self) -> numbers.Measures:
        return numbers.measure([row for rows in self.tasks.values() for row in rows])

    @cached_property
    def ended(self) -> Counter[str]:
        """The outcomes of the scored episodes."""
        return Counter(row.outcome for rows in self.tasks.values() for row in rows)

    @property
    def panel(self) -> str:
        return " ".join(filter(None, [self.system, self.place]))

    @property
    def arm(self) -> str:
        return f"{self.panel}: {self.line}"

    @property
    def name(self) -> str:
        return f"{self.line}, {self.decoding}"


def series_of(cells: Sequence[CellRecord], *, also: Also = ()) -> list[Series]:
    """Returns the series with scored episodes, in the order of the ladder, then in that
    of `cells`.
    """
    varying = varying_options(cells) - {"seed"}
    places = {name for name in varying if name.startswith("environment.")}

    def names(cell: CellRecord) -> tuple[str, str, str, str]:
        labels, others = cell.labels, _short(cell.settings(varying - places))
        system = f"{labels['environment']}, {labels['method']}"
        line = f"{labels['model']} {others}".strip()
        return system, _short(cell.settings(places)), line, labels["decoding"]

    alike = grouped((names(cell), cell) for cell in cells)
    in_order = sorted(alike.items(), key=lambda item: item[1][0].rung)
    series = [_series(key, group, also) for key, group in in_order]
    return [one for one in series if one.tasks]


def _series(
    names: tuple[str, str, str, str], cells: Sequence[CellRecord], also: Also
) -> Series:
    tasks = grouped(
        (task, row)
        for cell in cells
        for task, rows in numbers.rows_by_task(cell, also=also).items()
        for row in rows
    )
    trials = grouped(
        (trial.after_trial, trial.games_solved)
        for cell in cells
        for trial in numbers.success_after_trials(cell.rows, also=also)
        if trial.tasks == numbers.ALL
    )
    return Series(
        *names, tasks, [_added_up(trials[number]) for number in sorted(trials)]
    )


def _added_up(rates: Sequence[Rate]) -> Rate:
    """Sums rates over seeds. All seeds play the same games, so together they are worth
    no more independent samples than one of them.
    """
    effective = max(r.n if r.effective is None else r.effective for r in rates)
    return Rate(sum(r.k for r in rates), sum(r.n for r in rates), effective)


def _short(settings: str) -> str:
    """Removes the config groups: "layout=line" for "decoding.layout=line"."""
    return re.sub(r"\b[\w.]+\.(?=\w+=)", "", settings)


def draw_figures(series: Sequence[Series], folder: Path) -> dict[str, str]:
    """Writes `name`.svg, `name`_dark.svg and `name`.png of each figure with something
    to show, removes the files of the others, and returns the captions by name.
    """
    for name in NAMES:
        plotting.remove(folder, name)
    systems = grouped((arm.panel, arm) for arm in series)
    several = systems if len(series) > 1 else {}
    dots = [arm for arms in several.values() if len(_rungs(arms)) == 1 for arm in arms]
    how_far, after = "How far answers come, by rung", "Games solved after each trial"
    captions = {
        "success": _draw("success", "Success", _by_rung(several), folder, dots),
        "outcomes": _draw_outcomes(series, folder),
        "formalized": _draw("formalized", how_far, _how_far(series), folder),
        "trials": _draw("trials", after, _by_trial(systems), folder),
        "tasks": _draw("tasks", "Success by kind of task", _by_task(series), folder),
    }
    return {name: caption for name, caption in captions.items() if caption}


def _draw_outcomes(series: Sequence[Series], folder: Path) -> str:
    """Draws how the episodes of each arm ended, with one bar for each arm and won games
    first. The arms of a model are next to each other, and what all arms share is in the
    title.
    """
    by_model = sorted(series, key=lambda arm: (arm.panel, arm.line.partition(" ")[0]))
    shown = [arm for arm in by_model if arm.ended][:MOST_STACKS]
    every = sum((arm.ended for arm in shown), Counter[str]())
    if len(shown) < 2 or len(every) < 2:
        return ""

    def won_first(outcome: str) -> tuple[bool, int, str]:
        return not outcome_named(outcome).success, -every[outcome], outcome

    order = sorted(every, key=won_first)
    one_panel = len({arm.panel for arm in shown}) == 1
    title = "How episodes ended"
    if one_panel:
        title += f": {shown[0].panel}"
    stacks = {}
    for arm in shown:
        n = arm.ended.total()
        name = arm.name if one_panel else f"{arm.panel}: {arm.name}"
        stacks[f"{name}, n = {n}"] = {
            outcome.replace("_", " "): arm.ended[outcome] / n for outcome in order
        }
    heights = [plotting.rows_height(len(stacks))]
    with plotting.drawing(folder, "outcomes", heights) as axes:
        plotting.draw_stacks(axes[0], title, stacks)
    caption = "How the episodes of each arm ended"
    if left := len(series) - len(shown):
        caption += f"; {left} more arms are only in the tables"
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
    titles = {verdict.number: verdict.title for verdict in found}
    rows = [
        Dot(
            f"{titles[number]}, n = {tested.pairs}",
            tested.difference,
            tested.new.interval,
        )
        for number, tested in enumerate(compared.tested)
        if tested.difference is not None
    ]
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
    for title, series in systems.items():
        lines = {
            name: {one.decoding: one.measures.success for one in alike}
            for name, alike in grouped((one.line, one) for one in series).items()
        }
        yield Panel(title, _rungs(series), lines)


def _how_far(series: Sequence[Series]) -> Iterator[Panel]:
    """Yields a panel for the answers of each model in described worlds, rung by
    rung.
    """
    for title, arms in grouped((one.arm, one) for one in series).items():
        if any(arm.measures.judged_by_gold for arm in arms):
            lines = {
                shown: {arm.decoding: getattr(arm.measures, name) for arm in arms}
                for name, shown in HOW_FAR.items()
            }
            known = {
                name: line
                for name, line in lines.items()
                if any(rate.n for rate in line.values())
            }
            yield Panel(title, _rungs(arms), known)


def _by_trial(systems: Mapping[str, Sequence[Series]]) -> Iterator[Panel]:
    for title, series in systems.items():
        trials = [
            str(trial) for trial in range(1, 1 + max(len(one.trials) for one in series))
        ]
        lines = {
            one.name: dict(zip(trials, one.trials, strict=False))
            for one in series
            if len(one.trials) > 1
        }
        yield Panel(f"{title}: games solved by trial", trials, lines)


def _by_task(series: Sequence[Series]) -> Iterator[Panel]:
    """Arms that differ only in the environment's settings are one line: the settings
    define the tasks.
    """
    for system, arms in grouped((one.system, one) for one in series).items():
        tasks = sorted({task for one in arms for task in one.tasks}, key=by_number)
        lines: dict[str, dict[str, Rate]] = defaultdict(dict)
        for one in arms:
            for task, rows in one.tasks.items():
                lines[one.name][task] = numbers.measure(rows).success
        yield Panel(system, tasks, lines)


def _rungs(series: Iterable[Series]) -> list[str]:
    return list(dict.fromkeys(one.decoding for one in series))


def _draw(
    name: str,
    caption: str,
    panels: Iterable[Panel],
    folder: Path,
    dots: Sequence[Series] = (),
) -> str:
    """Draws the panels with two or more ticks, and below them one panel of `dots`.
    Returns the caption, or "" if there is nothing to show.
    """
    panels = [panel for panel in panels if len(panel.ticks) > 1]
    if not panels and not dots:
        return ""
    shown = panels[:MOST_PANELS]
    heights = [LINES] * len(shown)
    if dots:
        heights.append(plotting.rows_height(len(dots)))
    with plotting.drawing(folder, name, heights) as axes:
        plotting.draw_lines(axes, shown, MOST_LINES)
        if dots:
            title = "one decoding" if shown else ""
            rows = [_dot(arm) for arm in dots]
            plotting.draw_dots(axes[-1], title, rows, differences=False)
    caption = f"{caption}, with intervals of 95 %"
    if (left := len(panels) - MOST_PANELS) > 0:
        caption += f"; {left} more systems are only in the tables"
    return caption


def _dot(arm: Series) -> Dot:
    rate = arm.measures.success
    name = f"{arm.panel}: {arm.name}, n = {rate.n}"
    return Dot(name, rate.share or 0.0, rate.interval)
