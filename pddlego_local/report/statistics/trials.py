"""Success after trial 1, 2, …, N per kind of task: how methods that learn between trials are
judged. A game is solved from the first trial that solved it."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pddlego_local.core.record.counting import Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.statistics.rates import Range, Rate, if_missing

ALL = "all"


@dataclass(frozen=True)
class AfterTrial:
    """Games solved in this trial or before, of those whose trial of this number is over; `missing`
    games are still to be played so often, and `of_asked` counts them as lost and as won."""

    solved: Rate
    missing: int
    of_asked: Range


def success_after_trials(
    rows: Iterable[EpisodeRow], games: Collection[int] = (), *, with_trivial: bool = False
) -> dict[str, list[AfterTrial]]:
    """{kind of task: [after the first trial, after the second, …]}: all kinds, then each.

    `games` are those that shall be played; the kind of a game that was never played is not known.
    Games that stand apart are left out (`counting.counted`).
    """
    rows = sorted(rows, key=lambda row: row.trial)
    kept = counted(rows, with_trivial=with_trivial).counted
    trials: dict[int, list[EpisodeRow]] = defaultdict(list)
    for row in kept:
        trials[row.game].append(row)
    never_begun = set(games) - {row.game for row in rows}
    kinds: dict[str, list[int]] = defaultdict(list)
    for game, played in trials.items():
        kinds[_task_type(played)].append(game)
    known, count = clusters(kept), 1 + max((row.trial for row in kept), default=-1)

    def after(games: Iterable[int]) -> list[AfterTrial]:
        of_games = [(known.get(game, game), trials.get(game, [])) for game in games]
        return [_after(of_games, trial) for trial in range(count)]

    by_kind = {ALL: after([*trials, *never_begun])}
    by_kind |= {kind: after(of_kind) for kind, of_kind in sorted(kinds.items())}
    return by_kind if kept else {}


def _after(games: Iterable[tuple[Cluster, list[EpisodeRow]]], trial: int) -> AfterTrial:
    """`games` are the trials of each, with its cluster."""
    over, missing = [], []
    for cluster, rows in games:
        if any(row.trial == trial for row in rows):
            over.append((cluster, any(row.success for row in rows if row.trial <= trial), 1))
        else:
            missing.append(cluster)
    return AfterTrial(Rate.of(over), len(missing), if_missing(over, missing))


def _task_type(trials: Iterable[EpisodeRow]) -> str:
    """A trial that was not played again, because an earlier one had won, names none."""
    return next((row.task_type for row in trials if row.task_type), "")
