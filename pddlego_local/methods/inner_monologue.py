"""Inner Monologue (IM), a baseline of DEPS (Wang et al., §8.1): it plans only the next
sub-goal, after a description of how the last one ended.
"""

from pddlego_local.decoding.forms import GOALS, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import settings
from pddlego_local.methods.shared.subgoals import GoalPlanner, SubgoalPlayer


@settings
class InnerMonologue(SubgoalPlayer):
    forms = (GOALS, choice(1))

    def play(self, episode: Episode) -> str:
        """Returns success, no_plan (the planner named no sub-goal), no_progress
        (`max_idle`), game_lost or step_limit.
        """
        controller = self.controller(episode)
        planner = GoalPlanner(controller)
        goal = planner.next_goal()
        while goal:
            pursuit = controller.pursue(goal)
            if pursuit.outcome:
                return pursuit.outcome
            goal = planner.next_goal(planner.describe([pursuit], finished=False))
        return "no_plan"
