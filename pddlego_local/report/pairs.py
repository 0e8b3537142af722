"""The games that two arms have in common, as pairs of their episodes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pddlego_local.core.record.counting import Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.arms import Arm
from pddlego_local.report.contrasts import Contrast

GameKey = tuple[str, Cluster]
"""What makes the games, and a game's number, or the cluster that it belongs to."""

Trials = Sequence[EpisodeRow]
"""Of one game with one seed by one arm, in order; none where the result is missing."""


@dataclass(frozen=True)
class Pair:
    """One game with one seed, as both arms played it: success is that after its last trial."""

    game: GameKey
    seed: int
    cluster: GameKey
    base: Trials
    other: Trials

    @property
    def base_won(self) -> bool:
        return solved(self.base)

    @property
    def finished(self) -> bool:
        return bool(self.base and self.other)

    def results(self, missing_favour_other: bool = False) -> tuple[GameKey, bool, bool]:
        """The cluster and success of both; what is missing went for the other arm, or against."""
        base = solved(self.base) if self.base else not missing_favour_other
        other = solved(self.other) if self.other else missing_favour_other
        return self.cluster, base, other


def solved(trials: Trials) -> bool:
    return any(row.success for row in trials)


def pairs_of(contrast: Contrast, with_trivial: bool) -> Iterator[Pair]:
    """Of all games, seeds and trials that both arms were to play. A game that stands apart in one
    arm stands apart in both."""
    base, other = contrast.arms
    rows = [*base.rows.values(), *other.rows.values()]
    counting = {row.game for row in counted(rows, with_trivial=with_trivial).counted}
    apart = {row.game for row in rows} - counting
    maps = clusters(rows)
    common: dict[tuple[int, int], list[int]] = defaultdict(list)
    for game, seed, trial in sorted(base.requested & other.requested):
        common[game, seed].append(trial)
    for (game, seed), trials in common.items():
        if game not in apart:
            cluster = base.games, maps.get(game, game)
            results = (_trials(arm, game, seed, trials) for arm in contrast.arms)
            yield Pair((base.games, game), seed, cluster, *results)


def _trials(arm: Arm, game: int, seed: int, trials: Sequence[int]) -> Trials:
    """None as long as a trial that may yet solve the game is missing."""
    found = [arm.rows.get((game, seed, trial)) for trial in trials]
    rows = [row for row in found if row]
    return rows if len(rows) == len(trials) or solved(rows) else []
