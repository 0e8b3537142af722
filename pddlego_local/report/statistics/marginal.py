"""The field's usual model beside the exact tests: a logistic regression of success on the arm, by
generalized estimating equations (Liang and Zeger, Biometrika 73, 1986), whose standard errors are
those of clusters, corrected for few of them (Mancl and DeRouen, Biometrics 57, 2001)."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

LEAST_CLUSTERS = 20
"""With fewer the standard errors are not to be relied on."""


class Odds(NamedTuple):
    """The second arm's odds of success over the first one's, with the interval of 95 % and p; all
    None where the model cannot be fitted."""

    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def odds(pairs: Sequence[tuple[Hashable, bool, bool]]) -> Odds:
    """`pairs` are the cluster, and whether the first arm and the second one succeeded. There is no
    model of fewer than `LEAST_CLUSTERS`, of an arm that always or never succeeds, and of arms that
    never differ."""
    clusters = {name: number for number, name in enumerate(dict.fromkeys(p[0] for p in pairs))}
    won = np.array([pair[1:] for pair in pairs], dtype=float).reshape(-1, 2)
    shares = won.mean(0) if pairs else won
    if len(clusters) < LEAST_CLUSTERS or not ((shares > 0) & (shares < 1)).all():
        return Odds()
    if (won[:, 0] == won[:, 1]).all():
        return Odds()
    from statsmodels.genmod.families import Binomial  # slow to import
    from statsmodels.genmod.generalized_estimating_equations import GEE

    arm = np.repeat([0.0, 1.0], len(pairs))
    groups = np.tile([clusters[pair[0]] for pair in pairs], 2)
    model = GEE(won.T.ravel(), np.stack([arm**0, arm], 1), groups=groups, family=Binomial())
    fitted = model.fit(cov_type="bias_reduced")
    low, high = np.exp(fitted.conf_int()[1])
    return Odds(float(np.exp(fitted.params[1])), float(low), float(high), float(fitted.pvalues[1]))
