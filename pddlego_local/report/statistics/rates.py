"""Numbers with their uncertainty: a share with its interval, a mean with its standard
deviation.

Samples of one cluster (trials of one game, games on one map) may agree more than
samples of several clusters do. They are then worth fewer independent samples.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

LEVEL = 0.05


def two_sided(level: float) -> float:
    """Returns the z that the absolute value of a standard normal exceeds with the
    probability `level`: 1.96 for 5 %.
    """
    from scipy.special import ndtri  # slow to import

    return float(-ndtri(level / 2))


Result = tuple[Hashable, int, int]
"""(cluster, k, n): k successes among n samples of the cluster."""


class Interval(NamedTuple):
    low: float
    high: float


class Range(NamedTuple):
    """The lower end of a rate's interval if all missing results were lost, and the
    upper end if all were won.
    """

    low_if_lost: float
    high_if_won: float


@dataclass(frozen=True)
class Rate:
    """k of n with its Wilson score interval at 95 %.

    If the n samples are not independent, the interval is that of the same share of
    `effective` independent samples (see Franco, Little, Louis and Slud, J. Survey
    Statistics and Methodology 7, 2019). `effective` is None if it equals n.
    """

    k: int
    n: int
    effective: float | None = None

    @classmethod
    def of(cls, results: Iterable[Result]) -> "Rate":
        successes = Counter[Hashable]()
        samples = Counter[Hashable]()
        for cluster, k, n in results:
            successes[cluster] += k
            samples[cluster] += n
        with_samples = [cluster for cluster, n in samples.items() if n]
        sizes = [samples[cluster] for cluster in with_samples]
        totals = [successes[cluster] for cluster in with_samples]
        k = successes.total()
        n = samples.total()
        effective = Clustered(sizes, totals, k).effective()
        return cls(k, n, effective if effective < n else None)

    @property
    def worth(self) -> float:
        """The number of independent samples."""
        return self.n if self.effective is None else self.effective

    @property
    def share(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> Interval:
        """The interval of the share; from 0 to 1 if n is 0."""
        if not self.n:
            return Interval(0.0, 1.0)
        from statsmodels.stats.proportion import proportion_confint  # slow to import

        share = self.k / self.n
        n = self.worth
        low, high = proportion_confint(share * n, n, alpha=LEVEL, method="wilson")
        return Interval(float(low), float(high))


def if_missing(results: Sequence[Result], missing: Iterable[Hashable]) -> Range:
    """Returns the range of a rate. `missing` has the cluster of each missing result."""
    clusters = list(missing)
    lost: list[Result] = [(cluster, 0, 1) for cluster in clusters]
    won: list[Result] = [(cluster, 1, 1) for cluster in clusters]
    if_lost = Rate.of([*results, *lost])
    if_won = Rate.of([*results, *won])
    return Range(if_lost.interval.low, if_won.interval.high)


@dataclass(frozen=True)
class Mean:
    """Mean and sample standard deviation of n numbers; None if there are too few
    numbers.
    """

    mean: float | None = None
    sd: float | None = None
    n: int = 0

    @classmethod
    def of(cls, values: Iterable[float]) -> "Mean":
        numbers = list(values)
        mean = fmean(numbers) if numbers else None
        sd = stdev(numbers) if len(numbers) > 1 else None
        return cls(mean, sd, len(numbers))


@dataclass(frozen=True)
class Clustered:
    """Clustered samples.

    `sizes` has the number of samples of each cluster, `totals` their sum, and `squares`
    is the sum of the squares of all samples. For several experiments at once, `totals`
    has shape [experiments, clusters] and `squares` [experiments].
    """

    sizes: Sequence[int]
    totals: Any
    squares: Any

    @cached_property
    def most(self) -> float:
        """The maximum of the design effect, when all samples of a cluster agree."""
        sizes = np.array(self.sizes)
        squares = (sizes**2).sum()
        return float(squares / sizes.sum())

    @cached_property
    def excess(self) -> Any:
        """The design effect minus 1, at least 0.

        The design effect is the variance of the mean of clustered samples (as a ratio
        estimator: Obuchowski, Statistics in Medicine 17, 1998) divided by that of
        independent samples (Rao and Scott, Biometrics 48, 1992). Its maximum is used if
        there is one cluster or if the samples have no variance.
        """
        sizes = np.array(self.sizes)
        totals = np.asarray(self.totals)
        total = totals.sum(-1)
        mean = total / sizes.sum()
        independent = self.squares - mean * total

        clusters = len(sizes)
        residuals = totals - mean[..., None] * sizes
        squares = (residuals**2).sum(-1)
        observed = squares * clusters / max(clusters - 1, 1)

        unknown = (independent <= 0) | (clusters == 1)
        divisor = np.where(unknown, 1, independent)
        excess = np.maximum(observed / divisor - 1, 0)
        return np.where(unknown, self.most - 1, excess)

    def squared_deviate(self, z: float) -> Any:
        """Returns z² of a standard normal times the design effect.

        With few clusters, the excess of the design effect above 1 is multiplied with
        the square of Student's t instead of z² (Korn and Graubard, Survey Methodology
        24, 1998).
        """
        from scipy.special import ndtr, stdtrit  # slow to import

        if not self.excess.any():
            return z**2
        freedom = max(len(self.sizes) - 1, 1)
        student = -stdtrit(freedom, ndtr(-z))
        widened = z**2 + self.excess * student**2
        return np.minimum(widened, self.most * z**2)

    def effective(self, level: float = LEVEL) -> float:
        """Returns the number of independent samples with the same information at this
        level: the samples divided by their design effect, which is 1 if each cluster
        has one sample.
        """
        samples = sum(self.sizes)
        if max(self.sizes, default=0) <= 1:
            return float(samples)
        z = two_sided(level)
        design_effect = self.squared_deviate(z) / z**2
        return float(samples / design_effect)
