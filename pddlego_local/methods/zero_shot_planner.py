"""The zero-shot planner (GPT), a baseline of DEPS (Wang et al., §8.1): one plan, never changed."""

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.forms import GOALS, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, AtLeast1, Player, settings
from pddlego_local.methods.shared.subgoals import Controller, GoalPlanner, most_choices


@settings
class ZeroShotPlanner(Player):
    max_retries: AtLeast0 = 5
    max_idle: AtLeast1 = 20

    prompts = "deps"
    forms = (GOALS, choice(1))

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """Counts one plan and the controller's choices."""
        choices = most_choices(budget.limit, self.max_idle)
        return (1 + choices) * (1 + self.max_retries)

    def play(self, episode: Episode) -> str:
        """Returns success, no_plan (the planner named no sub-goal), subgoal_failed, task_not_done
        (although all sub-goals are done), no_progress (`max_idle`), game_lost or step_limit."""
        controller = Controller(episode, self.max_retries, self.max_idle)
        goals = GoalPlanner(controller).plan()
        if not goals:
            return "no_plan"
        last = controller.carry_out(goals)[-1]
        return last.outcome or ("subgoal_failed" if last.ended == "failed" else "task_not_done")
