"""Cells that differ in nothing but their seed are one series: one bar, or one point of a line."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pddlego_local.core.record.counting import Also
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.numbers import ALL, rows_by_task, success_after_trials
from pddlego_local.report.statistics.cell import Measures, measure
from pddlego_local.report.statistics.rates import Rate


@dataclass(frozen=True)
class Series:
    """`system` is the environment and the method, `place` the environment's settings and `line` the
    model with all other settings, where these tell series apart; `decoding` is the label of the
    rung. `tasks` are the episodes that count, by kind of task; `trials` the games solved after
    trial 1, 2, …, seeds added up."""

    system: str
    place: str
    line: str
    decoding: str
    tasks: Mapping[str, Sequence[EpisodeRow]]
    trials: Sequence[Rate] = ()

    @cached_property
    def measures(self) -> Measures:
        return measure([row for rows in self.tasks.values() for row in rows])

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
    """Those with an episode that counts, in the order of the ladder, then in that of `cells`."""
    varying = varying_options(cells) - {"seed"}
    alike: dict[tuple[str, ...], list[CellRecord]] = defaultdict(list)
    for cell in cells:
        places = {name for name in varying if name.startswith("environment.")}
        system = f"{cell.labels['environment']}, {cell.labels['method']}"
        line = f"{cell.labels['model']} {_short(cell.settings(varying - places))}".strip()
        alike[system, _short(cell.settings(places)), line, cell.labels["decoding"]].append(cell)
    in_order = sorted(alike.items(), key=lambda item: item[1][0].rung)
    series = [_series(names, group, also) for names, group in in_order]
    return [one for one in series if one.tasks]


def _series(names: tuple[str, ...], cells: Sequence[CellRecord], also: Also) -> Series:
    tasks: dict[str, list[EpisodeRow]] = defaultdict(list)
    trials: dict[int, list[Rate]] = defaultdict(list)
    for cell in cells:
        for task, rows in rows_by_task(cell, also=also).items():
            tasks[task] += rows
        for trial in success_after_trials(cell.rows, also=also):
            if trial.tasks == ALL:
                trials[trial.after_trial].append(trial.games_solved)
    system, place, line, decoding = names
    after = [_added_up(trials[number]) for number in sorted(trials)]
    return Series(system, place, line, decoding, tasks, after)


def _added_up(rates: Sequence[Rate]) -> Rate:
    """Of seeds, which play the same games: they are worth no more than one of them."""
    effective = max(r.n if r.effective is None else r.effective for r in rates)
    return Rate(sum(r.k for r in rates), sum(r.n for r in rates), effective)


def _short(settings: str) -> str:
    """Without the groups: "layout=line" for "decoding.layout=line"."""
    return re.sub(r"\b[\w.]+\.(?=\w+=)", "", settings)
