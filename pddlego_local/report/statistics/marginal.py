"""The usual model of the field, shown beside the exact tests: a logistic regression of
success on the arm by generalized estimating equations (Liang and Zeger, Biometrika 73,
1986). Its standard errors are clustered and corrected for few clusters (Mancl and
DeRouen, Biometrics 57, 2001).
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

LEAST_CLUSTERS = 20
"""With fewer clusters the standard errors are not reliable."""


class Odds(NamedTuple):
    """The odds ratio of success, second arm over first arm, with its 95 % interval and
    p. All are None if the model cannot be fitted.
    """

    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def odds(pairs: Sequence[tuple[Hashable, bool, bool]]) -> Odds:
    """Fits the model.

    Each of `pairs` has the cluster, and whether the first and the second arm succeeded.
    No model is fitted with fewer than `LEAST_CLUSTERS` clusters, if an arm always or
    never succeeds, if the arms never differ, or if all clusters are equal.
    """
    clusters = {
        name: number for number, name in enumerate(dict.fromkeys(p[0] for p in pairs))
    }
    won = np.array([pair[1:] for pair in pairs], dtype=float).reshape(-1, 2)
    shares = won.mean(0) if pairs else won
    if len(clusters) < LEAST_CLUSTERS or not ((shares > 0) & (shares < 1)).all():
        return Odds()
    from statsmodels.genmod.families import Binomial  # slow to import
    from statsmodels.genmod.generalized_estimating_equations import GEE

    arm = np.repeat([0.0, 1.0], len(pairs))
    groups = np.tile([clusters[pair[0]] for pair in pairs], 2)
    model = GEE(
        won.T.ravel(), np.stack([arm**0, arm], 1), groups=groups, family=Binomial()
    )
    fitted = model.fit(cov_type="bias_reduced")
    if (
        fitted.cov_robust_bc.diagonal().min() < 1e-12
    ):  # all clusters are equal, but for rounding
        return Odds()
    numbers = (*np.exp([fitted.params[1], *fitted.conf_int()[1]]), fitted.pvalues[1])
    return Odds(
        *(float(f"{number:.7g}") for number in numbers)
    )  # further digits depend on the CPU
