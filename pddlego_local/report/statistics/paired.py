"""Two arms on the same games: the difference in success, its test, the interval that
this test does not reject, and Holm's adjustment for several such tests.

Clusters are the units that a question treats as independent. For new games on these
maps the cluster is the game, with all its seeds. For new maps it is the map.
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
    """The pairs of a cluster: only the second arm won the `gained` ones, only the first
    the `lost` ones.
    """

    pairs: int
    gained: int
    lost: int


@dataclass(frozen=True)
class Paired:
    """The paired results of two arms. Differences are second arm minus first arm, from
    -1 to 1.

    A difference of 0 is rejected at a level if two tests reject it at that level: the
    exact test that swaps the arms, and the score test. The interval at a level contains
    the differences that the score test does not reject (Tango 1998), with counts
    divided by their design effect (Rao and Scott 1992). It also contains 0 unless both
    tests reject it. So it excludes 0 if and only if `p` is below the level.
    """

    clusters: Sequence[Tally]

    @cached_property
    def sums(self) -> Tally:
        return Tally(*map(sum, zip(Tally(0, 0, 0), *self.clusters, strict=True)))

    @property
    def difference(self) -> float | None:
        """The difference in success; None if there are no pairs."""
        pairs, gained, lost = self.sums
        return (gained - lost) / pairs if pairs else None

    @cached_property
    def p(self) -> float | None:
        """The larger two-sided p of the two tests; None if there are no pairs."""
        if not self.clusters:
            return None
        return max(
            swapping_arms(c.gained - c.lost for c in self.clusters), self._score_p
        )

    def interval(self, level: float = LEVEL) -> Interval:
        """Returns the interval at a level; the whole range from -1 to 1 if there are no
        pairs.
        """
        from scipy.special import ndtri  # slow to import

        if self.p is None:
            return Interval(-1.0, 1.0)
        pairs = self.effective_pairs(level)
        weight = pairs / self.sums.pairs
        gained, lost = self.sums.gained * weight, self.sums.lost * weight
        z = float(-ndtri(level / 2))
        low, high = score_interval(gained, lost, pairs, z)
        if self.p < level:
            return Interval(low, high)
        return Interval(min(low, 0.0), max(high, 0.0))

    def power(self, level: float = LEVEL) -> Power:
        """Returns the power with as many clusters of these sizes, where as many pairs
        oppose the difference as here, and where pairs that disagree lie together on a
        cluster as often.
        """
        pairs, gained, lost = self.sums
        sizes = tuple(sorted(cluster.pairs for cluster in self.clusters))
        opposing, within = 0.0, 1.0
        differ = sum(bool(cluster.gained or cluster.lost) for cluster in self.clusters)
        if differ:
            opposing = min(gained, lost) / pairs
            discordant = (gained + lost) / pairs
            within = min(discordant * len(self.clusters) / differ, 1.0)
        return Power(sizes, opposing=opposing, within=within, level=level)

    def effective_pairs(self, level: float = LEVEL) -> float:
        """Returns the number of independent pairs with the same information."""
        return self._samples.effective(level)

    @cached_property
    def _samples(self) -> Clustered:
        """The pairs as samples with values 1, -1 or 0."""
        sizes = [cluster.pairs for cluster in self.clusters]
        totals = [cluster.gained - cluster.lost for cluster in self.clusters]
        return Clustered(sizes, totals, self.sums.gained + self.sums.lost)

    @property
    def _score_p(self) -> float:
        """The level at which the score test just rejects a difference of 0."""
        from scipy.optimize import brentq
        from scipy.special import ndtr

        _, gained, lost = self.sums
        if gained == lost:
            return 1.0
        statistic = (gained - lost) ** 2 / (gained + lost)

        def surplus(z: float) -> float:
            return float(self._samples.squared_deviate(z)) - statistic

        z = brentq(surplus, 0, sqrt(statistic) * 1.001, xtol=1e-14)
        return float(2 * ndtr(-z))


def score_interval(
    gained: float, lost: float, pairs: float, z: float
) -> tuple[float, float]:
    """Returns the interval of (gained - lost) / pairs by Tango, Statistics in Medicine
    17, 1998, 891-908.

    It contains the differences that a score test does not reject. The test rejects a
    difference if its standard normal deviate exceeds `z`; at a difference of 0 it is
    McNemar's test. The interval has a positive width even if no pair disagrees.
    """
    from scipy.optimize import brentq

    def score(difference: float) -> float:
        linear = (2 * pairs - gained + lost) * difference - gained - lost
        constant = -lost * difference * (1 - difference)
        discriminant = max(linear**2 - 8 * pairs * constant, 0.0)
        share_lost = (sqrt(discriminant) - linear) / (4 * pairs)
        variance = pairs * (2 * share_lost + difference * (1 - difference))
        excess = gained - lost - pairs * difference
        if variance > 1e-12:
            return float(excess / sqrt(variance))
        return float(np.sign(excess)) * 1e6  # no variance: any excess is rejected

    estimate = (gained - lost) / pairs
    low = brentq(lambda d: score(d) - z, -1, estimate) if estimate > -1 else -1
    high = brentq(lambda d: score(d) + z, estimate, 1) if estimate < 1 else 1
    return float(low), float(high)


def swapping_arms(differences: Iterable[int]) -> float:
    """Returns the two-sided p of the exact permutation test that swaps the two arms
    within clusters.

    `differences` has the difference of each cluster, in pairs won. With one pair in
    each cluster this is McNemar's exact test. The exact distribution over all swaps is
    computed by convolution, without sampling.
    """
    observed = list(differences)
    weights = [abs(difference) for difference in observed if difference]
    chances = np.ones(
        1
    )  # probabilities of the sums -total, -total + 2, …, total so far
    for weight in weights:
        chances = (np.pad(chances, (0, weight)) + np.pad(chances, (weight, 0))) / 2
    sums = 2 * np.arange(len(chances)) - sum(weights)
    return min(1.0, float(chances[abs(sums) >= abs(sum(observed))].sum()))


class Adjusted(NamedTuple):
    """`p` after Holm's adjustment, and the level for the unadjusted p.

    A difference is shown if and only if the unadjusted p is below `level`. The level is
    5 % divided by the number of comparisons that were not yet rejected when the
    procedure reached this one, or when it stopped.
    """

    p: float
    level: float


def holm(values: Sequence[float]) -> list[Adjusted]:
    """Adjusts `values`, the p of each comparison, and returns the results in the same
    order.
    """
    from statsmodels.stats.multitest import multipletests  # slow to import

    if not values:
        return []
    adjusted = [float(p) for p in multipletests(values, method="holm")[1]]
    shown = sum(p < LEVEL for p in adjusted)
    before = [min(sum(other < p for other in values), shown) for p in values]
    levels = [LEVEL / (len(values) - n) for n in before]
    return [Adjusted(p, level) for p, level in zip(adjusted, levels, strict=True)]
