"""The numbers of a report: one row per cell, per kind of task, and per trial."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core.record.counting import clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.statistics.cell import Measures, measure
from pddlego_local.report.statistics.rates import Range, Rate, if_missing
from pddlego_local.report.statistics.trials import success_after_trials

Labels = Mapping[str, str]
"""What tells a cell apart: its labels, "settings" and "budget"."""


@dataclass(frozen=True)
class Episodes:
    """What became of the episodes that were asked for: `asked` = `finished` + `missing`, and of the
    finished ones three kinds stand apart, with all trials of their games: `trivial` ones (but
    `with_trivial`), `unsolvable` ones, and those whose map the model has `seen_in_training`.
    """

    asked: int
    finished: int
    missing: int
    trivial: int
    unsolvable: int
    seen_in_training: int


@dataclass(frozen=True)
class CellNumbers:
    """One cell. `success_of_asked` treats what has no result as lost and as won."""

    labels: Labels
    episodes: Episodes
    with_trivial: bool
    games_teach_each_other: bool
    success_of_asked: Range
    measures: Measures


@dataclass(frozen=True)
class TaskNumbers:
    """The finished episodes of one kind of task in one cell."""

    labels: Labels
    tasks: str
    games: int
    maps: int | None
    success: Rate
    games_solved: Rate


@dataclass(frozen=True)
class TrialNumbers:
    """Games solved after a trial, of those whose trial is over; `missing` have no result yet."""

    labels: Labels
    tasks: str
    after_trial: int
    games_solved: Rate
    missing: int
    games_solved_of_asked: Range


@dataclass(frozen=True)
class Numbers:
    """All of a report."""

    cells: list[CellNumbers]
    tasks: list[TaskNumbers]
    trials: list[TrialNumbers]


def report_numbers(cells: Sequence[CellRecord], *, with_trivial: bool = False) -> Numbers:
    varying = varying_options(cells)
    numbers = Numbers([], [], [])
    for cell in cells:
        labels = {**cell.labels, "settings": cell.settings(varying), "budget": cell.budget}
        numbers.cells.append(_of_cell(cell, labels, with_trivial))
        numbers.tasks.extend(_of_tasks(cell, labels, with_trivial))
        numbers.trials.extend(_of_trials(cell, labels, with_trivial))
    return numbers


def _of_cell(cell: CellRecord, labels: Labels, with_trivial: bool) -> CellNumbers:
    sorted_rows = counted(cell.rows, with_trivial=with_trivial)
    measures = measure(sorted_rows.counted)
    episodes = Episodes(
        asked=len(cell.rows) + cell.missing,
        finished=len(cell.rows),
        missing=cell.missing,
        trivial=len(sorted_rows.apart["trivial"]),
        unsolvable=len(sorted_rows.apart["unsolvable"]),
        seen_in_training=len(sorted_rows.apart["seen in training"]),
    )
    of_asked = _of_asked(cell, sorted_rows.counted)
    teaching = cell.games_teach_each_other
    return CellNumbers(labels, episodes, with_trivial, teaching, of_asked, measures)


def _of_asked(cell: CellRecord, counting: Sequence[EpisodeRow]) -> Range:
    """Of games that stand apart nothing that could count is missing."""
    known = clusters(cell.rows)
    apart = known.keys() - {row.game for row in counting}
    played = {(row.game, row.trial) for row in cell.rows}
    left = [game for game, _ in sorted(cell.requested - played) if game not in apart]
    finished = [(known[row.game], int(row.success), 1) for row in counting]
    return if_missing(finished, (known.get(game, game) for game in left))


def rows_by_task(cell: CellRecord, *, with_trivial: bool) -> dict[str, list[EpisodeRow]]:
    """By the environment's groups of task types, in its order; then games as they are named."""
    types = {row.game: row.task_type for row in cell.rows if row.task_type}
    groups: dict[str, list[EpisodeRow]] = {name: [] for name in cell.run.task_groups}
    for row in counted(cell.rows, with_trivial=with_trivial).counted:
        groups.setdefault(cell.group(types.get(row.game, "")), []).append(row)
    return {name: rows for name, rows in groups.items() if rows}


def _of_tasks(cell: CellRecord, labels: Labels, with_trivial: bool) -> list[TaskNumbers]:
    groups = rows_by_task(cell, with_trivial=with_trivial)
    measured = {name: measure(rows) for name, rows in groups.items()}
    return [
        TaskNumbers(labels, name, m.games, m.maps, m.success, m.games_solved)
        for name, m in measured.items()
    ]


def _of_trials(cell: CellRecord, labels: Labels, with_trivial: bool) -> list[TrialNumbers]:
    """Of cells with several trials."""
    if max((trial for _, trial in cell.requested), default=0) == 0:
        return []
    games = {game for game, _ in cell.requested}
    after = success_after_trials(cell.rows, games, with_trivial=with_trivial)
    return [
        TrialNumbers(labels, tasks, number, trial.solved, trial.missing, trial.of_asked)
        for tasks, trials in after.items()
        for number, trial in enumerate(trials, start=1)
    ]
