"""Inner Monologue (IM), a baseline of DEPS (Wang et al., §8.1): only the next sub-goal is planned,
after what came of the last one has been described.
"""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.forms import GOALS, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods.shared.controller import Controller, most_choices, most_pursuits
from pddlego_local.methods.shared.goal_planner import GoalPlanner


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class InnerMonologue:
    """`max_retries` is how often an unusable answer is asked for again; `max_idle` sub-goals in a
    row that end without a command end the episode."""

    max_retries: Annotated[int, Field(ge=0)] = 5
    max_idle: Annotated[int, Field(ge=1)] = 20

    prompts = "deps"
    forms = (GOALS, choice(1))
    learns = False

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """The sub-goals, one that is not named, and their controller."""
        goals = most_pursuits(budget.limit, self.max_idle) + 1
        choices = most_choices(budget.limit, self.max_idle)
        return (goals + choices) * (1 + self.max_retries)

    def __call__(self, episode: Episode) -> str:
        """Returns success, success_at_start, no_plan (the planner named no sub-goal), no_progress
        (`max_idle`), game_lost or step_limit."""
        if episode.start().success:
            return "success_at_start"
        planner = GoalPlanner(episode, self.max_retries)
        controller = Controller(episode, max_retries=self.max_retries, max_idle=self.max_idle)
        goal = planner.next_goal(controller.step)
        while goal:
            pursuit = controller.pursue(goal)
            if pursuit.outcome:
                return pursuit.outcome
            description = planner.describe([pursuit], finished=False)
            goal = planner.next_goal(controller.step, description)
        return "no_plan"
