"""Numbers with their uncertainty: a share with its interval, a mean with its deviation."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True)
class Rate:
    """k of n with its Wilson score interval at 95 %.

    Several trials of one game are not independent samples: with `games` given, the interval is that
    of the same share of so many games.
    """

    k: int
    n: int
    games: int | None = None

    @property
    def share(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float]:
        """From 0 to 1; all of it where n is 0."""
        return _wilson(self.k, self.n, self.games)

    def if_missing(self, missing: int, games: int | None = None) -> tuple[float, float]:
        """The interval's ends if `missing` more, of `games` in all, were lost, or were won."""
        n = self.n + missing
        return _wilson(self.k, n, games)[0], _wilson(self.k + missing, n, games)[1]


@dataclass(frozen=True)
class Mean:
    """Mean and sample standard deviation of n numbers; None where there are too few."""

    mean: float | None = None
    sd: float | None = None
    n: int = 0

    @classmethod
    def of(cls, values: Iterable[float]) -> "Mean":
        listed = list(values)
        return cls(
            fmean(listed) if listed else None,
            stdev(listed) if len(listed) > 1 else None,
            len(listed),
        )


def _wilson(k: int, n: int, games: int | None) -> tuple[float, float]:
    if not n:
        return 0.0, 1.0
    from statsmodels.stats.proportion import proportion_confint  # slow to import

    counted = min(n, games or n)
    low, high = proportion_confint(k / n * counted, counted, alpha=0.05, method="wilson")
    return float(low), float(high)
