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
from pddlego_local.report.statistics.rates import (
    LEVEL,
    Clustered,
    Interval,
    two_sided,
)


class Tally(NamedTuple):
    """The pairs of a cluster: only the second arm won the `gained` ones, only the first
    the `lost` ones.
    """

    pairs: int
    gained: int
    lost: int

    @property
    def difference(self) -> int:
        return self.gained - self.lost

    @property
    def discordant(self) -> int:
        """The pairs that only one arm won."""
        return self.gained + self.lost


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
        return Tally(
            pairs=sum(cluster.pairs for cluster in self.clusters),
            gained=sum(cluster.gained for cluster in self.clusters),
            lost=sum(cluster.lost for cluster in self.clusters),
        )

    @property
    def difference(self) -> float | None:
        """The difference in success; None if there are no pairs."""
        sums = self.sums
        return sums.difference / sums.pairs if sums.pairs else None

    @cached_property
    def p(self) -> float | None:
        """The larger two-sided p of the two tests; None if there are no pairs."""
        if not self.clusters:
            return None
        exact_p = swapping_arms(cluster.difference for cluster in self.clusters)
        return max(exact_p, self._score_p)

    def interval(self, level: float = LEVEL) -> Interval:
        """Returns the interval at a level; the whole range from -1 to 1 if there are no
        pairs.
        """
        if self.p is None:
            return Interval(-1.0, 1.0)
        pairs = self.effective_pairs(level)
        weight = pairs / self.sums.pairs
        gained = self.sums.gained * weight
        lost = self.sums.lost * weight
        z = two_sided(level)
        low, high = score_interval(gained, lost, pairs, z)
        if self.p < level:
            return Interval(low, high)
        return Interval(min(low, 0.0), max(high, 0.0))

    def power(self, level: float = LEVEL) -> Power:
        """Returns the power with as many clusters of these sizes, where as many pairs
        oppose the difference as here, and where pairs that disagree lie together on a
        cluster as often.
        """
        sums = self.sums
        sizes = tuple(sorted(cluster.pairs for cluster in self.clusters))
        differ = sum(cluster.discordant > 0 for cluster in self.clusters)
        if not differ:
            return Power(sizes, opposing=0.0, level=level)
        opposing = min(sums.gained, sums.lost) / sums.pairs
        discordant = sums.discordant / sums.pairs
        clusters = len(self.clusters)
        within = min(discordant * clusters / differ, 1.0)
        return Power(sizes, opposing=opposing, within=within, level=level)

    def effective_pairs(self, level: float = LEVEL) -> float:
        """Returns the number of independent pairs with the same information."""
        return self._samples.effective(level)

    @cached_property
    def _samples(self) -> Clustered:
        """The pairs as samples with values 1, -1 or 0."""
        sizes = [cluster.pairs for cluster in self.clusters]
        totals = [cluster.difference for cluster in self.clusters]
        return Clustered(sizes, totals, squares=self.sums.discordant)

    @property
    def _score_p(self) -> float:
        """The level at which the score test just rejects a difference of 0."""
        from scipy.optimize import brentq
        from scipy.special import ndtr

        sums = self.sums
        if not sums.difference:
            return 1.0
        statistic = sums.difference**2 / sums.discordant

        def surplus(z: float) -> float:
            return float(self._samples.squared_deviate(z)) - statistic

        above = sqrt(statistic) * 1.001
        z = brentq(surplus, 0, above, xtol=1e-14)
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

    net = gained - lost

    def score(difference: float) -> float:
        """The deviate of the observed difference if this one is true."""
        # The most likely share of lost pairs is the root of a quadratic equation.
        linear = (2 * pairs - gained + lost) * difference - gained - lost
        constant = -lost * difference * (1 - difference)
        discriminant = max(linear**2 - 8 * pairs * constant, 0.0)
        share_lost = (sqrt(discriminant) - linear) / (4 * pairs)
        variance = pairs * (2 * share_lost + difference * (1 - difference))
        excess = net - pairs * difference
        if variance > 1e-12:
            return float(excess / sqrt(variance))
        return float(np.sign(excess)) * 1e6  # no variance: any excess is rejected

    def above_low(difference: float) -> float:
        return score(difference) - z

    def above_high(difference: float) -> float:
        return score(difference) + z

    estimate = net / pairs
    low, high = -1.0, 1.0
    if estimate > low:
        low = brentq(above_low, low, estimate)
    if estimate < high:
        high = brentq(above_high, estimate, high)
    return low, high


def swapping_arms(differences: Iterable[int]) -> float:
    """Returns the two-sided p of the exact permutation test that swaps the two arms
    within clusters.

    `differences` has the difference of each cluster, in pairs won. With one pair in
    each cluster this is McNemar's exact test. The exact distribution over all swaps is
    computed by convolution, without sampling.
    """
    observed = list(differences)
    weights = [abs(difference) for difference in observed if difference]
    # The chances of the sums -total, -total + 2, …, total of the weights so far.
    chances = np.ones(1)
    for weight in weights:
        subtracted = np.pad(chances, (0, weight))
        added = np.pad(chances, (weight, 0))
        chances = (subtracted + added) / 2
    total = sum(weights)
    sums = np.arange(-total, total + 1, 2)
    as_extreme = abs(sums) >= abs(sum(observed))
    p = float(chances[as_extreme].sum())
    return min(1.0, p)


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
    adjusted = multipletests(values, method="holm")[1]
    shown = sum(adjusted < LEVEL)
    found = []
    for p, adjusted_p in zip(values, adjusted, strict=True):
        smaller = sum(other < p for other in values)
        rejected_before = min(smaller, shown)
        level = LEVEL / (len(values) - rejected_before)
        found.append(Adjusted(float(adjusted_p), float(level)))
    return found
