"""Bars and intervals of a report's first screen: their places on a common axis, and the
same drawn with letters.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor

from pddlego_local.report.statistics.rates import Interval

STEP = 10  # points; an axis begins and ends at a multiple
MOST_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """An axis of differences in points, with 0 on it."""

    low: int
    high: int

    def at(self, share: float) -> float:
        """Returns the place of a difference in percent of the axis, from the left."""
        return 100 * (100 * share - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[int]:
        """Multiples of one step, with 0 among them."""
        step = STEP
        while (self.high - self.low) / step > MOST_TICKS - 1:
            step *= 2
        first = ceil(self.low / step)
        last = floor(self.high / step)
        return [step * number for number in range(first, last + 1)]


def common_axis(intervals: Iterable[Interval]) -> Axis:
    """Returns the shortest axis that has 0 and all of these intervals on it."""
    low = high = 0.0
    for interval in intervals:
        low = min(low, interval.low)
        high = max(high, interval.high)
    steps_below = min(floor(100 * low / STEP), -1)
    steps_above = max(ceil(100 * high / STEP), 1)
    return Axis(STEP * steps_below, STEP * steps_above)


def bar(share: float, width: int = 10) -> str:
    """For example "████······" for 41.5 %."""
    filled = round(share * width)
    return "█" * filled + "·" * (width - filled)


def interval_bar(
    difference: float, interval: Interval, axis: Axis, width: int = 17
) -> str:
    """For example "·····│────●───··": the interval, the difference in it, and 0."""

    def place(share: float) -> int:
        return round(axis.at(share) / 100 * (width - 1))

    letters = ["·"] * width
    for number in range(place(interval.low), place(interval.high) + 1):
        letters[number] = "─"
    letters[place(0)] = "│"
    letters[place(difference)] = "●"
    return "".join(letters)
