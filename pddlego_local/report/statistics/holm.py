"""Holm's adjustment: how strict the test of each of several comparisons is."""

from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.report.statistics.clustered import LEVEL


@dataclass(frozen=True)
class Adjusted:
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
