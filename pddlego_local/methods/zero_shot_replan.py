"""The zero-shot planner with re-planning (GPT+RP), a baseline of DEPS (Wang et al.,
§8.1): when a sub-goal fails, the failure is described but not explained, and a new plan
is written from there.
"""

from pddlego_local.decoding.forms import GOALS, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, settings
from pddlego_local.methods.shared.subgoals import GoalPlanner, SubgoalPlayer


@settings
class ZeroShotReplan(SubgoalPlayer):
    max_replans: AtLeast0 = 5

    forms = (GOALS, choice(1))

    def play(self, episode: Episode) -> str:
        """Returns success, no_plan (the planner named no sub-goal), replan_limit,
        no_progress (`max_idle`), game_lost or step_limit.
        """
        controller = self.controller(episode)
        planner = GoalPlanner(controller)
        goals = planner.plan(replans=True)
        replans = 0
        while goals:
            pursuits = controller.carry_out(goals)
            if outcome := pursuits[-1].outcome:
                return outcome
            if replans == self.max_replans:
                return "replan_limit"
            replans += 1
            goals = planner.replan(planner.describe(pursuits))
        return "no_plan"
