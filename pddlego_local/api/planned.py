"""Plans for two texts, which may be paths by mistake."""

from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.paths import path_in_place_of_text
from pddlego_local.planner import FastDownward


def planned(planner: FastDownward, domain: str, problem: str) -> PlanResult:
    """Plans. If a text is a path, the planner is not asked, and the message names the
    path.
    """
    for name, text in (("domain", domain), ("problem", problem)):
        if path := path_in_place_of_text(text):
            return PlanResult("translate_error", (), f"{name}: {path}", 0.0)
    return planner.plan(domain, problem)
