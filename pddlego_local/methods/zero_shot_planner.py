"""The zero-shot planner (GPT), a baseline of DEPS (Wang et al., §8.1): one plan, never
changed.
"""

from pddlego_local.decoding.forms import GOALS, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import settings
from pddlego_local.methods.shared.subgoals import GoalPlanner, SubgoalPlayer


@settings
class ZeroShotPlanner(SubgoalPlayer):
    forms = (GOALS, choice(1))

    def play(self, episode: Episode) -> str:
        """Returns success, no_plan (the planner named no sub-goal), subgoal_failed,
        task_not_done (although all sub-goals are done), no_progress (`max_idle`),
        game_lost or step_limit.
        """
        controller = self.controller(episode)
        goals = GoalPlanner(controller).plan()
        if not goals:
            return "no_plan"
        last = controller.carry_out(goals)[-1]
        return last.outcome or (
            "subgoal_failed" if last.ended == "failed" else "task_not_done"
        )
