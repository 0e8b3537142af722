"""Computes the numbers of a report: the measures of each cell, each kind of task, and
each trial.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.nouns import DeadEnds
from pddlego_local.core.record.counting import (
    Also,
    Cluster,
    clusters,
    counted,
    task_types,
)
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.measures import Measures, measure
from pddlego_local.report.statistics.rates import Range, Rate, Result, if_missing

Labels = Mapping[str, str]
"""The columns that identify a cell: its labels, "settings" and "budget"."""

ALL = "all"


@dataclass(frozen=True)
class CellNumbers:
    """The numbers of one cell.

    `asked` is the number of requested episodes, `finished` + `missing`. Three kinds of
    finished episodes are excluded, with all trials of their games: `trivial` ones
    (unless `with_trivial`), `unsolvable` ones, and those on maps that the model has
    `seen_in_training` (unless `with_seen`). `success_of_asked` is the range of the
    success rate with all missing results lost, or all won. `tries_used_up` is the share
    of answers for which rejection sampling rejected every try, so that the last one was
    used as it was, and `games_with_tries_used_up` the share of episodes with such an
    answer. Both are of no answers for an arm that rejects none, or without transcripts.
    `without_patches` says that a server of ours ran without serving/vllm_patches.py.
    """

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
    tries_used_up: Rate
    games_with_tries_used_up: Rate
    without_patches: bool
    measures: Measures


@dataclass(frozen=True)
class TaskNumbers:
    """The numbers of the scored episodes of one kind of task in one cell."""

    labels: Labels
    tasks: str
    games: int
    maps: int | None
    success: Rate
    games_solved: Rate


@dataclass(frozen=True)
class TrialNumbers:
    """Games solved in this trial or before, among the games that have finished this
    trial.

    `missing` games have not finished it, and `games_solved_of_asked` is the range with
    all of them lost, or all won. `tasks` is a kind of task, or `ALL`.
    """

    labels: Labels
    tasks: str
    after_trial: int
    games_solved: Rate
    missing: int
    games_solved_of_asked: Range


@dataclass(frozen=True)
class Numbers:
    """All numbers of a report. `dead_ends` are those of the worlds of its cells."""

    cells: list[CellNumbers]
    tasks: list[TaskNumbers]
    trials: list[TrialNumbers]
    dead_ends: list[DeadEnds]


def report_numbers(cells: Sequence[CellRecord], *, also: Also = ()) -> Numbers:
    """Computes all numbers of a report. `also` are reasons for exclusion to ignore."""
    varying = varying_options(cells)
    dead_ends = dict.fromkeys(cell.run.dead_ends for cell in cells)
    numbers = Numbers([], [], [], [each for each in dead_ends if each])
    for cell in cells:
        labels = {
            **cell.labels,
            "settings": cell.settings(varying),
            "budget": cell.budget,
        }
        numbers.cells.append(_of_cell(cell, labels, also))
        for name, rows in rows_by_task(cell, also=also).items():
            numbers.tasks.append(_of_task(name, labels, measure(rows)))
        if any(trial > 0 for _, trial in cell.requested):
            games = {game for game, _ in cell.requested}
            for found in success_after_trials(cell.rows, games, also=also):
                numbers.trials.append(replace(found, labels=labels))
    return numbers


def _of_task(name: str, labels: Labels, measures: Measures) -> TaskNumbers:
    return TaskNumbers(
        labels,
        tasks=name,
        games=measures.games,
        maps=measures.maps,
        success=measures.success,
        games_solved=measures.games_solved,
    )


def _of_cell(cell: CellRecord, labels: Labels, also: Also) -> CellNumbers:
    found = counted(cell.rows, also=also)
    of_answers, of_games = tries_used_up(cell, found.counted)
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
        tries_used_up=of_answers,
        games_with_tries_used_up=of_games,
        without_patches=cell.run.model.get("patches") == "none",
        measures=measure(found.counted),
    )


def tries_used_up(cell: CellRecord, scored: Sequence[EpisodeRow]) -> tuple[Rate, Rate]:
    """Returns `tries_used_up` and `games_with_tries_used_up` of `CellNumbers` for these
    rows. Only transcripts tell them, so cells that reject nothing are not read.
    """
    reject = cell.decoding.get("reject") or {}
    answers = list[Result]()
    games = list[Result]()
    known = clusters(cell.rows)
    for row in scored if reject else ():
        events, _ = cell.events(row)
        calls = [event for event in events if isinstance(event, Call)]
        cluster = known[row.game]
        used_up = [len(call.rejected) >= reject["tries"] for call in calls]
        answers += [(cluster, of_answer, 1) for of_answer in used_up]
        if events:
            games.append((cluster, any(used_up), 1))
    return Rate.of(answers), Rate.of(games)


def _of_asked(cell: CellRecord, scored: Sequence[EpisodeRow]) -> Range:
    """The range of the success rate. Missing trials of excluded games would not be
    scored.
    """
    known = clusters(cell.rows)
    excluded = known.keys() - {row.game for row in scored}
    finished = list[Result]()
    for row in scored:
        finished.append((known[row.game], row.success, 1))
    missing = list[Cluster]()
    for game, _ in sorted(cell.missing_episodes):
        if game not in excluded:
            missing.append(known.get(game, game))
    return if_missing(finished, missing)


def rows_by_task(cell: CellRecord, *, also: Also) -> dict[str, list[EpisodeRow]]:
    """Returns the scored rows by the environment's groups of task types, in the
    environment's order, then by task types without a group.
    """
    types = task_types(cell.rows)
    scored = counted(cell.rows, also=also).counted
    groups = defaultdict[str, list[EpisodeRow]](list)
    for row in scored:
        task_type = types.get(row.game, "")
        groups[cell.group(task_type)].append(row)
    in_order = {**cell.run.task_groups, **groups}
    return {name: groups[name] for name in in_order if name in groups}


def success_after_trials(
    rows: Iterable[EpisodeRow], games: Collection[int] = (), *, also: Also = ()
) -> list[TrialNumbers]:
    """Returns the games solved after each trial, for all kinds of tasks together and
    for each kind.

    Methods that learn between trials are judged by these numbers. A game is solved from
    the first trial on that solved it. `games` are the requested games. The kind of a
    game that was never played is unknown. Excluded games are left out
    (`counting.counted`).
    """
    rows = sorted(rows, key=lambda row: row.trial)
    scored = counted(rows, also=also).counted
    if not scored:
        return []
    played = grouped_by(scored, lambda row: row.game)
    games_of_kind = defaultdict[str, list[int]](list)
    types = task_types(scored)
    for game in played:
        kind = types.get(game, "")
        games_of_kind[kind].append(game)
    not_begun = set(games) - {row.game for row in rows}
    every_game = [*played, *not_begun]
    kinds = [(ALL, every_game), *sorted(games_of_kind.items())]
    known = clusters(scored)
    last = max(row.trial for row in scored)
    found = []
    for kind, of_kind in kinds:
        trials_of = {game: played.get(game, []) for game in of_kind}
        for trial in range(last + 1):
            found.append(_after(trial, kind, trials_of, known))
    return found


def _after(
    trial: int,
    kind: str,
    played: Mapping[int, Sequence[EpisodeRow]],
    known: Mapping[int, Cluster],
) -> TrialNumbers:
    """`played` has the trials of each game, and `known` the clusters of the games."""
    finished = list[Result]()
    missing = list[Cluster]()
    for game, rows in played.items():
        cluster = known.get(game, game)
        if any(row.trial == trial for row in rows):
            so_far = [row for row in rows if row.trial <= trial]
            solved = any(row.success for row in so_far)
            finished.append((cluster, solved, 1))
        else:
            missing.append(cluster)
    return TrialNumbers(
        labels={},
        tasks=kind,
        after_trial=trial + 1,
        games_solved=Rate.of(finished),
        missing=len(missing),
        games_solved_of_asked=if_missing(finished, missing),
    )
