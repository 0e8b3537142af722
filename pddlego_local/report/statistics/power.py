"""The power of a comparison: how often the whole test of `paired.Paired` detects a true
difference in simulated experiments. The random numbers are the same for every
difference.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, lru_cache
from math import pi
from typing import Any, NamedTuple

import numpy as np

from pddlego_local.report.statistics.rates import LEVEL, Clustered, two_sided

EXPERIMENTS = 500  # fewer where there are more than 500 pairs
SHOWN = 0.8


@dataclass(frozen=True)
class Power:
    """The power at a level, for clusters with these numbers of pairs (`sizes`).

    A share `opposing` of the pairs goes against the difference: only the arm that wins
    less wins them. The other arm alone wins as many, and in addition the difference
    itself. On some clusters no pair disagrees; on the others a share `within` of the
    pairs does. A larger difference is spread over more clusters. `within` is 1 if each
    cluster has one pair.
    """

    sizes: tuple[int, ...]
    opposing: float
    within: float = 1.0
    level: float = LEVEL

    def at(self, difference: float) -> float:
        """Returns the share of experiments, from 0 to 1, that show this true
        difference.
        """
        return _power(self, difference)

    @property
    def smallest(self) -> float | None:
        """The smallest difference, in whole percentage points as a share, that four of
        five experiments show; None if there is none.
        """
        if not self.sizes:
            return None
        points = range(1, 101)
        place = bisect_left(points, SHOWN, key=lambda point: self.at(point / 100))
        if place == len(points):
            return None
        return points[place] / 100


@cache
def _power(of: Power, difference: float) -> float:
    share_of_pairs = min(difference + 2 * of.opposing, 1.0)
    share_of_clusters = min(share_of_pairs / of.within, 1.0)
    share_within = share_of_pairs / share_of_clusters
    balance = difference / share_of_pairs
    favourable = (1 + balance) / 2

    draws = _draws(of.sizes)
    chosen = np.repeat(draws.clusters < share_of_clusters, of.sizes, axis=1)
    disagree = chosen & (draws.pairs < share_within)
    signs = np.where(draws.signs < favourable, 1, -1)
    results = signs * disagree
    first_pairs = np.cumsum([0, *of.sizes[:-1]])
    totals = np.add.reduceat(results, first_pairs, axis=1)

    discordant = disagree.sum(1)
    difference_won = totals.sum(1)
    statistic = difference_won**2 / np.maximum(discordant, 1)
    samples = Clustered(of.sizes, totals, discordant)
    threshold = samples.squared_deviate(two_sided(of.level))
    rejected = totals[statistic > threshold]
    if not len(rejected):
        return 0.0
    both = (_p_by_swaps(rejected) < of.level).sum()
    return float(both / len(totals))


class _Draws(NamedTuple):
    """Random numbers from 0 to 1, one row for each experiment.

    A cluster has one number, which decides whether any of its pairs disagree. A pair
    has two: whether it disagrees in such a cluster, and which arm then wins it.
    """

    clusters: Any
    pairs: Any
    signs: Any


@lru_cache(maxsize=4)
def _draws(sizes: tuple[int, ...]) -> _Draws:
    pairs = sum(sizes)
    fewer = 500 * EXPERIMENTS // pairs
    experiments = max(100, min(EXPERIMENTS, fewer))
    rng = np.random.default_rng(0)
    return _Draws(
        clusters=rng.random((experiments, len(sizes))),
        pairs=rng.random((experiments, pairs)),
        signs=rng.random((experiments, pairs)),
    )


def _p_by_swaps(totals: Any) -> Any:
    """`paired.swapping_arms` for many experiments. Swapping a cluster whose arms differ
    by w adds ±w to the sum, which has the characteristic function cos(w t). The product
    over the clusters is that of the sum, and its inverse Fourier transform has the
    chances of each sum.
    """
    weights = abs(totals)
    largest_sum = int(weights.sum(1).max())
    length = largest_sum + 1
    values = range(1, weights.max() + 1)
    frequencies = np.arange(length + 1) * pi / length
    waves = np.cos(np.outer(values, frequencies))
    # The product of powers of waves, as exp(sum of logarithms) with separate signs.
    counts_by_value = [(weights == value).sum(1) for value in values]
    counts = np.stack(counts_by_value, axis=1)
    at_least_tiny = np.maximum(abs(waves), 1e-300)
    logarithms = np.log(at_least_tiny)
    sizes = np.exp(counts @ logarithms)
    negative = counts @ (waves < 0).astype(float)
    signs = 1 - 2 * (negative % 2)

    of_all_sums = np.fft.irfft(signs * sizes, 2 * length)
    chances = of_all_sums[:, :length]  # the negative sums follow
    from_the_top = np.cumsum(np.fliplr(chances), axis=1)
    at_least = np.fliplr(from_the_top)
    observed = abs(totals.sum(1))
    experiments = np.arange(len(observed))
    p = 2 * at_least[experiments, observed]
    return np.where(observed, p, 1.0)
