"""DEPS (Wang et al., "Describe, Explain, Plan and Select", §3.2; in text games §8.1):
when a sub-goal fails, the failure is described and explained, and a new plan is written
from there.

There is no selector, as in the paper's ALFWorld experiments.
"""

from typing import ClassVar

from pddlego_local.decoding.forms import GOALS, TEXT, Fields, Form, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, settings
from pddlego_local.methods.shared.subgoals import GoalPlanner, SubgoalPlayer


@settings
class Deps(SubgoalPlayer):
    max_replans: AtLeast0 = 5

    forms: ClassVar[tuple[Form[Fields], ...]] = (GOALS, TEXT, choice(1))
    explains: ClassVar[bool] = True

    def play(self, episode: Episode) -> str:
        """Returns success, no_plan (the planner named no sub-goal), replan_limit,
        no_progress (`max_idle`), game_lost or step_limit.
        """
        controller = self.controller(episode)
        planner = GoalPlanner(controller)
        goals = planner.plan(replans=True, explains=self.explains)
        replans = 0
        while goals:
            pursuits = controller.carry_out(goals)
            if outcome := pursuits[-1].outcome:
                return outcome
            if replans == self.max_replans:
                return "replan_limit"
            replans += 1
            unsent = planner.describe(pursuits)
            if self.explains:
                unsent = planner.explain(unsent)
            goals = planner.replan(unsent)
        return "no_plan"
