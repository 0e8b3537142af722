"""Pairs of results: what two arms made of the same game with the same seed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.counting import Also, Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.arms import Arm
from pddlego_local.report.outcomes import achieves
from pddlego_local.report.statistics.paired import Paired, Tally
from pddlego_local.runner.settings import Outcome

GameKey = tuple[str, Cluster]
"""The options that determine the games (`Arm.games`), with a game's number or its
cluster.
"""

Trials = Sequence[EpisodeRow]
"""The trials of one game with one seed by one arm, in order; empty if the result is
missing.
"""


@dataclass(frozen=True)
class Pair:
    """The results of both arms for one game with one seed. An arm wins it if one of its
    trials has the `outcome`.
    """

    game: GameKey
    seed: int
    cluster: GameKey
    base: Trials
    other: Trials
    outcome: Outcome = "success"

    @property
    def base_won(self) -> bool:
        return solved(self.base, self.outcome)

    @property
    def other_won(self) -> bool:
        return solved(self.other, self.outcome)

    @property
    def discordant(self) -> bool:
        return self.base_won != self.other_won

    @property
    def finished(self) -> bool:
        return bool(self.base and self.other)


def solved(trials: Trials, outcome: Outcome) -> bool:
    return any(achieves(row, outcome) for row in trials)


def pairs_of(
    base: Arm, other: Arm, also: Also, outcome: Outcome = "success"
) -> Iterator[Pair]:
    """Yields the pairs of all games, seeds and trials that were requested for both
    arms. A game that is excluded from one arm is excluded from both.
    """
    rows = [*base.rows.values(), *other.rows.values()]
    found = counted(rows, also=also)
    scored = {row.game for row in found.counted}
    excluded = {row.game for row in rows} - scored
    maps = clusters(rows)
    both = sorted(base.requested & other.requested)
    common = grouped(((game, seed), trial) for game, seed, trial in both)
    for (game, seed), trials in common.items():
        if game not in excluded:
            yield Pair(
                game=(base.games, game),
                seed=seed,
                cluster=(base.games, maps.get(game, game)),
                base=_trials(base, game, seed, trials, outcome),
                other=_trials(other, game, seed, trials, outcome),
                outcome=outcome,
            )


def _trials(
    arm: Arm, game: int, seed: int, trials: Sequence[int], outcome: Outcome
) -> Trials:
    """Returns no rows if a missing trial might still have the outcome."""
    found = [arm.rows.get((game, seed, trial)) for trial in trials]
    rows = [row for row in found if row]
    finished = len(rows) == len(trials) or solved(rows, outcome)
    return rows if finished else []


def tallied(
    pairs: Iterable[Pair],
    unit: Callable[[Pair], GameKey],
    missing_favour_other: bool = False,
) -> Paired:
    """Returns both arms' results by cluster, with success after the last trial. `unit`
    gives a pair's cluster. Missing results favour `other` or, by default, `base`.
    """
    tallies = defaultdict[GameKey, Counter[str]](Counter)
    for pair in pairs:
        base = pair.base_won if pair.base else not missing_favour_other
        other = pair.other_won if pair.other else missing_favour_other
        tally = tallies[unit(pair)]
        tally.update(pairs=1, gained=other and not base, lost=base and not other)
    return Paired([Tally(**tally) for tally in tallies.values()])
