"""Two arms on the same games: the difference in success, its interval, its test, and what so many
games could have shown.

The game is the cluster: its episodes (of several seeds and trials) are not independent.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import sqrt
from typing import Any

import numpy as np

LEVEL = 0.05
POWER = 0.8
Z = 1.959964  # the normal quantile of an interval of 95 %


@dataclass(frozen=True)
class Tally:
    """The pairs of episodes of a game: `gained` only the second arm won, `lost` only the first."""

    pairs: int
    gained: int
    lost: int


@dataclass(frozen=True)
class Paired:
    """What the pairs of all games say. Differences go from -1 to 1: second arm less first arm."""

    games: Sequence[Tally]

    @cached_property
    def pairs(self) -> int:
        return sum(game.pairs for game in self.games)

    @cached_property
    def gained(self) -> int:
        return sum(game.gained for game in self.games)

    @cached_property
    def lost(self) -> int:
        return sum(game.lost for game in self.games)

    @property
    def difference(self) -> float | None:
        """None of no pairs."""
        return (self.gained - self.lost) / self.pairs if self.pairs else None

    @cached_property
    def effective_pairs(self) -> float:
        """As many independent pairs would tell as much: the pairs divided by their design effect.

        This is the variance of the difference with games as clusters (Obuchowski 1998) over that of
        independent pairs; what it is above 1 counts for more where games are few, as Student's t
        does. It is at least 1, and at most what it is where all pairs of a game agree; it is the
        latter where no variance is seen. With one pair a game it is 1.
        """
        from scipy.stats import t  # slow to import

        if not self.pairs:
            return 0.0
        sizes = np.array([game.pairs for game in self.games], dtype=float)
        differences = np.array([game.gained - game.lost for game in self.games], dtype=float)
        total, games = differences.sum(), len(sizes)
        most = (sizes**2).sum() / self.pairs
        independent = self.gained + self.lost - total**2 / self.pairs
        if independent <= 0 or games == 1:
            return float(self.pairs / most)
        residuals = differences - total / self.pairs * sizes
        clustered = (residuals**2).sum() * games / (games - 1)
        excess = (clustered / independent - 1) * (t.ppf(1 - LEVEL / 2, games - 1) / Z) ** 2
        return float(self.pairs / min(1 + max(excess, 0.0), most))

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Of 95 %: the score interval of a paired difference (Tango 1998), with the counts divided
        by the design effect (Rao and Scott 1992). All there is, of no pairs."""
        if not self.pairs:
            return -1.0, 1.0
        weight = self.effective_pairs / self.pairs
        return score_interval(self.gained * weight, self.lost * weight, self.effective_pairs)

    @cached_property
    def p(self) -> float | None:
        """Two-sided, of `swapping_arms`; None of no pairs."""
        return swapping_arms(g.gained - g.lost for g in self.games) if self.pairs else None

    @cached_property
    def smallest_shown(self) -> float | None:
        """`smallest_difference` of the effective pairs and of the disagreement that was seen."""
        discordant = (self.gained + self.lost) / self.pairs if self.pairs else 0.0
        return smallest_difference(round(self.effective_pairs), discordant)


def score_interval(gained: float, lost: float, pairs: float) -> tuple[float, float]:
    """Of 95 %, of (gained - lost) / pairs (Tango, Statistics in Medicine 17, 1998, 891-908): the
    differences that a score test does not refuse; at a difference of 0 this test is McNemar's. It
    has a width where no pair disagrees."""
    from scipy.optimize import brentq  # slow to import

    def score(difference: float) -> float:
        linear = (2 * pairs - gained + lost) * difference - gained - lost
        constant = -lost * difference * (1 - difference)
        share_lost = (sqrt(max(linear**2 - 8 * pairs * constant, 0.0)) - linear) / (4 * pairs)
        variance = pairs * (2 * share_lost + difference * (1 - difference))
        excess = gained - lost - pairs * difference
        return float(excess / sqrt(variance)) if variance > 1e-12 else float(np.sign(excess)) * 1e6

    estimate = (gained - lost) / pairs
    low = brentq(lambda d: score(d) - Z, -1, estimate) if estimate > -1 else -1
    high = brentq(lambda d: score(d) + Z, estimate, 1) if estimate < 1 else 1
    return float(low), float(high)


def swapping_arms(differences: Iterable[int]) -> float:
    """The two-sided p of the exact permutation test that swaps the two arms game by game;
    `differences` are the games', in pairs won. With one pair a game it is McNemar's exact test.

    All swaps are reckoned with, by adding up the distribution of their sum: nothing is drawn.
    """
    listed = list(differences)
    weights = [abs(difference) for difference in listed if difference]
    chances = np.ones(1)  # of the sums -total, -total + 2, …, total so far
    for weight in weights:
        chances = (np.pad(chances, (0, weight)) + np.pad(chances, (weight, 0))) / 2
    sums = 2 * np.arange(len(chances)) - sum(weights)
    return min(1.0, float(chances[abs(sums) >= abs(sum(listed))].sum()))


def smallest_difference(pairs: int, discordant: float) -> float | None:
    """The smallest true difference that McNemar's exact test shows at 5 % in four of five
    experiments of so many independent pairs; None if even a difference of 1 is not shown so often.

    The power is exact (Duffy, Biometrics 40, 1984, 1005-1015), where a share `discordant` of the
    pairs disagrees, or the difference itself if that is more.
    """
    from scipy.optimize import brentq

    def surplus(difference: float) -> float:
        return _power(pairs, max(discordant, difference), difference) - POWER

    if pairs == 0 or surplus(1.0) < 0:
        return None
    return float(brentq(surplus, 0.0, 1.0, xtol=1e-4))


def _power(pairs: int, discordant: float, difference: float) -> float:
    from scipy.stats import binom

    if discordant == 0:
        return 0.0
    disagreeing, tail = _tails(pairs)
    share = (discordant + difference) / (2 * discordant)
    refused = binom.cdf(tail, disagreeing, share) + binom.cdf(tail, disagreeing, 1 - share)
    return float((binom.pmf(disagreeing, pairs, discordant) * refused).sum())


@cache
def _tails(pairs: int) -> tuple[Any, Any]:
    """0, 1, …, `pairs` disagreeing pairs, and for each the most that the rarer side may win where
    McNemar's exact test still shows a difference; -1 for none."""
    from scipy.stats import binom

    disagreeing = np.arange(pairs + 1)
    tail = binom.ppf(LEVEL / 2, disagreeing, 0.5)
    return disagreeing, np.where(binom.cdf(tail, disagreeing, 0.5) > LEVEL / 2, tail - 1, tail)
