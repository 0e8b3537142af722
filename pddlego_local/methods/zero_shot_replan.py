"""The zero-shot planner with re-planning (GPT+RP), a baseline of DEPS (Wang et al.,
§8.1): when a sub-goal fails, the failure is described but not explained, and a new plan
is written from there.
"""

from pddlego_local.decoding.forms import GOALS, choice
from pddlego_local.methods import settings
from pddlego_local.methods.deps import Deps


@settings
class ZeroShotReplan(Deps):
    """DEPS without its explainer."""

    forms = (GOALS, choice(1))
    explains = False
