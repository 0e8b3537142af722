"""Numbers with their uncertainty: a share with its interval, a mean with its deviation."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from pddlego_local.report.statistics.clustered import effective_size

Result = tuple[Hashable, int, int]
"""The cluster, and of so many samples in it (the last) so many that are counted."""


class Interval(NamedTuple):
    low: float
    high: float


class Range(NamedTuple):
    """The ends of a rate's interval if what has no result were all lost, or all won."""

    low_if_lost: float
    high_if_won: float


@dataclass(frozen=True)
class Rate:
    """k of n with its Wilson score interval at 95 %.

    The interval is that of the same share of `effective` independent samples, where the n are not
    independent (Franco, Little, Louis and Slud, J. Survey Statistics and Methodology 7, 2019, on
    such intervals); None for n.
    """

    k: int
    n: int
    effective: float | None = None

    @classmethod
    def of(cls, results: Iterable[Result]) -> "Rate":
        """Games with one map are a cluster, and so are the trials of a game."""
        counted, samples = Counter[Hashable](), Counter[Hashable]()
        for cluster, k, n in results:
            counted[cluster] += k
            samples[cluster] += n
        sizes = {cluster: n for cluster, n in samples.items() if n}
        k = counted.total()
        totals = [counted[cluster] for cluster in sizes]
        effective = effective_size(list(sizes.values()), totals, k)
        return cls(k, samples.total(), effective if effective < samples.total() else None)

    @property
    def share(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> Interval:
        """From 0 to 1; all of it where n is 0."""
        if not self.n:
            return Interval(0.0, 1.0)
        from statsmodels.stats.proportion import proportion_confint  # slow to import

        n = self.n if self.effective is None else self.effective
        low, high = proportion_confint(self.k / self.n * n, n, alpha=0.05, method="wilson")
        return Interval(float(low), float(high))


def if_missing(results: Sequence[Result], missing: Iterable[Hashable]) -> Range:
    """`missing` are the clusters of what has no result."""
    absent = list(missing)
    lost, won = (Rate.of([*results, *((one, k, 1) for one in absent)]) for k in (0, 1))
    return Range(lost.interval.low, won.interval.high)


@dataclass(frozen=True)
class Mean:
    """Mean and sample standard deviation of n numbers; None where there are too few."""

    mean: float | None = None
    sd: float | None = None
    n: int = 0

    @classmethod
    def of(cls, values: Iterable[float]) -> "Mean":
        numbers = list(values)
        return cls(
            fmean(numbers) if numbers else None,
            stdev(numbers) if len(numbers) > 1 else None,
            len(numbers),
        )
