"""DEPS (Wang et al., "Describe, Explain, Plan and Select", §3.2 and §3.3; in text games
§8.1): among the sub-goals of a plan that may come in any order, the nearest one is
selected. When a sub-goal fails, the failure is described and explained, and a new plan
is written from there.

In the paper's ALFWorld experiments there is no selector, as with `selector=none`.
"""

from pddlego_local.core.protocols import Environment
from pddlego_local.decoding.forms import (
    GOALS,
    PARALLEL_GOALS,
    TEXT,
    Fields,
    Form,
    Goals,
    choice,
)
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, added, settings
from pddlego_local.methods.shared.selector import Kind, Selector, unfit
from pddlego_local.methods.shared.subgoals import GoalPlanner, SubgoalPlayer


@settings
class Deps(SubgoalPlayer):
    max_replans: AtLeast0 = 5
    selector: Kind = added("none")

    @property
    def plans(self) -> Form[Goals]:
        return GOALS if self.selector == "none" else PARALLEL_GOALS

    @property
    def forms(self) -> tuple[Form[Fields], ...]:
        return self.plans, TEXT, choice(1)

    def unfit(self, environment: Environment) -> str:
        return unfit(self.selector, environment)

    def play(self, episode: Episode) -> str:
        """Returns success, no_plan (the planner named no sub-goal), replan_limit,
        no_progress (`max_idle`), game_lost or step_limit.
        """
        controller = self.controller(episode)
        planner = GoalPlanner(controller, self.plans)
        selector = Selector(self.selector, controller)
        goals = planner.plan(replans=True, explains=True)
        replans = 0
        while goals:
            pursuits = controller.carry_out(selector.order(goals))
            if outcome := pursuits[-1].outcome:
                return outcome
            if replans == self.max_replans:
                return "replan_limit"
            replans += 1
            description = planner.describe(pursuits)
            goals = planner.replan(planner.explain(description))
        return "no_plan"
