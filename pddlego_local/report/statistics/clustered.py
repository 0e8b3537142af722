"""How much clustered samples are worth: those of one cluster (a game's trials, games with one map)
may agree more than samples of several clusters do, so many are worth fewer independent ones.
"""

from collections.abc import Sequence
from math import fsum

LEVEL = 0.05


def design_effect(sizes: Sequence[int], totals: Sequence[int], squares: int) -> tuple[float, float]:
    """What the design effect is above 1, at least 0, and the most that the effect may be.

    Of each cluster, `sizes` are its samples and `totals` their sum; `squares` is the sum of the
    squares of all samples. The effect is the variance of the samples' mean with clusters (of a
    ratio: Obuchowski, Statistics in Medicine 17, 1998) over that of independent samples (Rao and
    Scott, Biometrics 48, 1992). The most is what it is where all samples of a cluster agree, and
    this is what it is taken for where no variance is seen.
    """
    samples, clusters = sum(sizes), len(sizes)
    most = sum(size**2 for size in sizes) / samples
    mean = sum(totals) / samples
    independent = squares - mean * sum(totals)
    if independent <= 0 or clusters == 1:
        return most - 1, most
    seen = fsum((total - mean * size) ** 2 for size, total in zip(sizes, totals, strict=True))
    return max(seen * clusters / (clusters - 1) / independent - 1, 0.0), most


def squared_deviate(z: float, excess: float, most: float, clusters: int) -> float:
    """z² of a standard normal times the design effect, with `excess` and `most` as `design_effect`
    gives them. What the effect is above 1 counts for more where clusters are few, as Student's t
    does (Korn and Graubard, Survey Methodology 24, 1998)."""
    from scipy.stats import norm, t  # slow to import

    if not excess:
        return z**2
    student = t.isf(norm.sf(z), max(clusters - 1, 1))
    return float(min(z**2 + excess * student**2, most * z**2))


def effective_size(
    sizes: Sequence[int], totals: Sequence[int], squares: int, level: float = LEVEL
) -> float:
    """The number of independent samples that would be worth as much at this level: the samples
    divided by their design effect, which is 1 where each cluster has one sample."""
    samples = sum(sizes)
    if max(sizes, default=0) <= 1:
        return float(samples)
    from scipy.stats import norm

    z = float(norm.isf(level / 2))
    effect = squared_deviate(z, *design_effect(sizes, totals, squares), len(sizes)) / z**2
    return samples / effect
