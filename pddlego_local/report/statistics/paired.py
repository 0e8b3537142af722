"""Two arms on the same games: the difference in success, its test, the interval that this test
leaves, and Holm's adjustment for several such tests.

The cluster is what a question takes for independent. Of new games on these maps it is the game, so
that a game's seeds are one; of new maps it is the map.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np

from pddlego_local.report.statistics.power import Power
from pddlego_local.report.statistics.rates import LEVEL, Clustered, Interval


class Tally(NamedTuple):
    """The pairs of a cluster: `gained` only the second arm won, `lost` only the first."""

    pairs: int
    gained: int
    lost: int


@dataclass(frozen=True)
class Paired:
    """What the pairs of all clusters say. Differences go from -1 to 1: second arm less first.

    A difference of 0 is rejected at a level if both tests reject it there: the exact one that swaps
    the arms, and the score test. The interval of a level holds what the score test does not reject
    (Tango 1998), with the counts divided by their design effect (Rao and Scott 1992), and 0 unless
    both reject it. So it leaves 0 out if and only if `p` is below the level.
    """

    clusters: Sequence[Tally]

    @cached_property
    def sums(self) -> Tally:
        return Tally(*map(sum, zip(Tally(0, 0, 0), *self.clusters, strict=True)))

    @property
    def difference(self) -> float | None:
        """None of no pairs."""
        pairs, gained, lost = self.sums
        return (gained - lost) / pairs if pairs else None

    @cached_property
    def p(self) -> float | None:
        """Two-sided, the larger of both tests; None of no pairs."""
        if not self.clusters:
            return None
        return max(swapping_arms(c.gained - c.lost for c in self.clusters), self._score_p)

    def interval(self, level: float = LEVEL) -> Interval:
        """All there is, of no pairs."""
        from scipy.stats import norm  # slow to import

        if self.p is None:
            return Interval(-1.0, 1.0)
        pairs = self.effective_pairs(level)
        weight = pairs / self.sums.pairs
        z = norm.isf(level / 2)
        low, high = score_interval(self.sums.gained * weight, self.sums.lost * weight, pairs, z)
        return Interval(low, high) if self.p < level else Interval(min(low, 0.0), max(high, 0.0))

    def power(self, level: float = LEVEL) -> Power:
        """Of as many clusters of these sizes, where the arms disagree as often, and on as many
        clusters, as they did."""
        pairs, gained, lost = self.sums
        differ = sum(bool(cluster.gained or cluster.lost) for cluster in self.clusters)
        discordant = (gained + lost) / pairs if pairs else 0.0
        return Power(
            tuple(sorted(cluster.pairs for cluster in self.clusters)),
            discordant=discordant,
            within=min(discordant * len(self.clusters) / differ, 1.0) if differ else 1.0,
            level=level,
        )

    def effective_pairs(self, level: float = LEVEL) -> float:
        """The number of independent pairs worth as much."""
        return self._samples.effective(level)

    @cached_property
    def _samples(self) -> Clustered:
        """A pair is 1, -1 or 0."""
        sizes = [cluster.pairs for cluster in self.clusters]
        totals = [cluster.gained - cluster.lost for cluster in self.clusters]
        return Clustered(sizes, totals, self.sums.gained + self.sums.lost)

    @property
    def _score_p(self) -> float:
        """The level at which the score test just rejects a difference of 0."""
        from scipy.optimize import brentq
        from scipy.stats import norm

        _, gained, lost = self.sums
        if gained == lost:
            return 1.0
        statistic = (gained - lost) ** 2 / (gained + lost)

        def surplus(z: float) -> float:
            return float(self._samples.squared_deviate(z)) - statistic

        z = brentq(surplus, 0, sqrt(statistic) * 1.001, xtol=1e-14)
        return float(2 * norm.sf(z))


def score_interval(gained: float, lost: float, pairs: float, z: float) -> tuple[float, float]:
    """Of (gained - lost) / pairs (Tango, Statistics in Medicine 17, 1998, 891-908): the differences
    that a score test does not reject, of which a standard normal deviate exceeds `z`; at a
    difference of 0 this test is McNemar's. It has a width where no pair disagrees."""
    from scipy.optimize import brentq

    def score(difference: float) -> float:
        linear = (2 * pairs - gained + lost) * difference - gained - lost
        constant = -lost * difference * (1 - difference)
        share_lost = (sqrt(max(linear**2 - 8 * pairs * constant, 0.0)) - linear) / (4 * pairs)
        variance = pairs * (2 * share_lost + difference * (1 - difference))
        excess = gained - lost - pairs * difference
        return float(excess / sqrt(variance)) if variance > 1e-12 else float(np.sign(excess)) * 1e6

    estimate = (gained - lost) / pairs
    low = brentq(lambda d: score(d) - z, -1, estimate) if estimate > -1 else -1
    high = brentq(lambda d: score(d) + z, estimate, 1) if estimate < 1 else 1
    return float(low), float(high)


def swapping_arms(differences: Iterable[int]) -> float:
    """The two-sided p of the exact permutation test that swaps the two arms cluster by cluster;
    `differences` are the clusters', in pairs won. With one pair each it is McNemar's exact test.

    All swaps are reckoned with, by adding up the distribution of their sum: nothing is drawn.
    """
    observed = list(differences)
    weights = [abs(difference) for difference in observed if difference]
    chances = np.ones(1)  # of the sums -total, -total + 2, …, total so far
    for weight in weights:
        chances = (np.pad(chances, (0, weight)) + np.pad(chances, (weight, 0))) / 2
    sums = 2 * np.arange(len(chances)) - sum(weights)
    return min(1.0, float(chances[abs(sums) >= abs(sum(observed))].sum()))


class Adjusted(NamedTuple):
    """`p` after Holm. A difference is shown if and only if the p before it is below `level`: 5 %
    over the comparisons that were still open when the procedure came to this one, those after which
    it stopped included."""

    p: float
    level: float


def holm(values: Sequence[float]) -> list[Adjusted]:
    """In the order of `values`, the p of each comparison."""
    from statsmodels.stats.multitest import multipletests  # slow to import

    if not values:
        return []
    adjusted = [float(p) for p in multipletests(values, method="holm")[1]]
    shown = sum(p < LEVEL for p in adjusted)
    before = [min(sum(other < p for other in values), shown) for p in values]
    levels = [LEVEL / (len(values) - n) for n in before]
    return [Adjusted(p, level) for p, level in zip(adjusted, levels, strict=True)]
