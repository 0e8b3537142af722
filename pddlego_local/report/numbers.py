"""The numbers of a report: one row per cell, per kind of task, and per trial."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pddlego_local.core.record.counting import Also, Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.statistics.cell import Measures, measure
from pddlego_local.report.statistics.rates import Range, Rate, if_missing

Labels = Mapping[str, str]
"""What tells a cell apart: its labels, "settings" and "budget"."""

ALL = "all"


@dataclass(frozen=True)
class CellNumbers:
    """One cell. `asked` = `finished` + `missing` episodes, and of the finished ones three kinds
    stand apart, with all trials of their games: `trivial` ones (but `with_trivial`), `unsolvable`
    ones, and those whose map the model has `seen_in_training` (but `with_seen`).
    `success_of_asked` treats what has no result as lost and as won."""

    labels: Labels
    asked: int
    finished: int
    missing: int
    trivial: int
    unsolvable: int
    seen_in_training: int
    with_trivial: bool
    with_seen: bool
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
    """Games solved in this trial or before, of those whose trial of this number is over; `missing`
    games are still to be played so often, and `games_solved_of_asked` counts them as lost and as
    won. `tasks` is a kind, or `ALL`."""

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


def report_numbers(cells: Sequence[CellRecord], *, also: Also = ()) -> Numbers:
    varying = varying_options(cells)
    numbers = Numbers([], [], [])
    for cell in cells:
        labels = {**cell.labels, "settings": cell.settings(varying), "budget": cell.budget}
        numbers.cells.append(_of_cell(cell, labels, also))
        for name, rows in rows_by_task(cell, also=also).items():
            m = measure(rows)
            numbers.tasks.append(
                TaskNumbers(labels, name, m.games, m.maps, m.success, m.games_solved)
            )
        if any(trial > 0 for _, trial in cell.requested):
            games = {game for game, _ in cell.requested}
            trials = success_after_trials(cell.rows, games, also=also)
            numbers.trials.extend(replace(trial, labels=labels) for trial in trials)
    return numbers


def _of_cell(cell: CellRecord, labels: Labels, also: Also) -> CellNumbers:
    found = counted(cell.rows, also=also)
    return CellNumbers(
        labels,
        asked=len(cell.rows) + cell.missing,
        finished=len(cell.rows),
        missing=cell.missing,
        trivial=len(found.apart["trivial"]),
        unsolvable=len(found.apart["unsolvable"]),
        seen_in_training=len(found.apart["seen in training"]),
        with_trivial="trivial" in also,
        with_seen="seen in training" in also,
        games_teach_each_other=cell.games_teach_each_other,
        success_of_asked=_of_asked(cell, found.counted),
        measures=measure(found.counted),
    )


def _of_asked(cell: CellRecord, counting: Sequence[EpisodeRow]) -> Range:
    """Of games that stand apart nothing that could count is missing."""
    known = clusters(cell.rows)
    apart = known.keys() - {row.game for row in counting}
    played = {(row.game, row.trial) for row in cell.rows}
    left = [game for game, _ in sorted(cell.requested - played) if game not in apart]
    finished = [(known[row.game], int(row.success), 1) for row in counting]
    return if_missing(finished, (known.get(game, game) for game in left))


def rows_by_task(cell: CellRecord, *, also: Also) -> dict[str, list[EpisodeRow]]:
    """By the environment's groups of task types, in its order; then games as they are named."""
    types = {row.game: row.task_type for row in cell.rows if row.task_type}
    groups: dict[str, list[EpisodeRow]] = {name: [] for name in cell.run.task_groups}
    for row in counted(cell.rows, also=also).counted:
        groups.setdefault(cell.group(types.get(row.game, "")), []).append(row)
    return {name: rows for name, rows in groups.items() if rows}


def success_after_trials(
    rows: Iterable[EpisodeRow], games: Collection[int] = (), *, also: Also = ()
) -> list[TrialNumbers]:
    """Of all kinds of tasks, then of each, after the first trial, the second, …: how methods that
    learn between trials are judged. A game is solved from the first trial that solved it.

    `games` are those that shall be played; the kind of a game that was never played is not known.
    Games that stand apart are left out (`counting.counted`).
    """
    rows = sorted(rows, key=lambda row: row.trial)
    kept = counted(rows, also=also).counted
    trials: dict[int, list[EpisodeRow]] = defaultdict(list)
    for row in kept:
        trials[row.game].append(row)
    kinds: dict[str, list[int]] = defaultdict(list)
    for game, played in trials.items():
        # A trial that was not played again, because an earlier one had won, names no kind.
        kinds[next((row.task_type for row in played if row.task_type), "")].append(game)
    known = clusters(kept)
    never_begun = set(games) - {row.game for row in rows}
    by_kind = [(ALL, [*trials, *never_begun]), *sorted(kinds.items())] if kept else []
    return [
        _after(kind, [(known.get(game, game), trials[game]) for game in of_kind], trial)
        for kind, of_kind in by_kind
        for trial in range(1 + max(row.trial for row in kept))
    ]


def _after(
    kind: str, games: Iterable[tuple[Cluster, list[EpisodeRow]]], trial: int
) -> TrialNumbers:
    """`games` are the trials of each, with its cluster."""
    over, missing = [], []
    for cluster, rows in games:
        if any(row.trial == trial for row in rows):
            over.append((cluster, any(row.success for row in rows if row.trial <= trial), 1))
        else:
            missing.append(cluster)
    of_asked = if_missing(over, missing)
    return TrialNumbers({}, kind, trial + 1, Rate.of(over), len(missing), of_asked)
