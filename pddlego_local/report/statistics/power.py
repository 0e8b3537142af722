"""The power of a comparison: how often the whole test of `paired.Paired` detects a true
difference in simulated experiments. The random numbers are the same for every
difference.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import pi
from typing import Any

import numpy as np

from pddlego_local.report.statistics.rates import LEVEL, Clustered

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
        shown = (end for end in range(5, 101, 5) if self.at(end / 100) >= SHOWN)
        if not self.sizes or (end := next(shown, None)) is None:
            return None
        return (
            next(p for p in range(end - 4, end + 1) if self.at(p / 100) >= SHOWN) / 100
        )


@cache
def _power(of: Power, difference: float) -> float:
    from scipy.special import ndtri  # slow to import

    disagree = min(difference + 2 * of.opposing, 1.0)
    differing = min(disagree / of.within, 1.0)
    favourable = (1 + difference / disagree) / 2
    cluster, pair, way = _draws(of.sizes)
    seen = np.repeat(cluster < differing, of.sizes, axis=1) & (
        pair < disagree / differing
    )
    pairs = np.where(way < favourable, 1, -1) * seen
    totals = np.add.reduceat(pairs, np.cumsum([0, *of.sizes[:-1]]), axis=1)
    statistic = totals.sum(1) ** 2 / np.maximum(seen.sum(1), 1)
    score = Clustered(of.sizes, totals, seen.sum(1)).squared_deviate(
        -ndtri(of.level / 2)
    )
    rejected = totals[statistic > score]
    both = (_p_by_swaps(rejected) < of.level).sum() if len(rejected) else 0
    return float(both / len(totals))


@lru_cache(maxsize=4)
def _draws(sizes: tuple[int, ...]) -> tuple[Any, ...]:
    """Random numbers from 0 to 1 for each experiment: one for each cluster, two for
    each pair.
    """
    pairs, rng = sum(sizes), np.random.default_rng(0)
    experiments = max(100, min(EXPERIMENTS, 500 * EXPERIMENTS // pairs))
    return tuple(
        rng.random((experiments, count)) for count in (len(sizes), pairs, pairs)
    )


def _p_by_swaps(totals: Any) -> Any:
    """`paired.swapping_arms` for many experiments, by the Fourier transforms of their
    distributions."""
    weights = abs(totals)
    longest = int(weights.sum(1).max())
    values = np.arange(1, int(weights.max()) + 2)
    counts = np.stack([(weights == value).sum(1) for value in values], axis=1)
    waves = np.cos(np.outer(values, np.arange(longest + 2) * pi / (longest + 1)))
    sizes = np.exp(counts @ np.log(np.maximum(abs(waves), 1e-300)))
    signs = 1 - 2 * ((counts @ (waves < 0).astype(float)) % 2)
    chances = np.fft.irfft(signs * sizes, 2 * (longest + 1))[:, : longest + 1]
    at_least = np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
    observed = abs(totals.sum(1))
    p = 2 * at_least[np.arange(len(observed)), observed]
    return np.where(observed, p, 1.0)
