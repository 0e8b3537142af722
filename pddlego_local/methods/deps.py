"""DEPS (Wang et al., "Describe, Explain, Plan and Select", §3.2; in text games §8.1): when a
sub-goal fails, the failure is described and explained, and a new plan is written from there.

Without a selector, as the paper's in ALFWorld.
"""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.forms import GOALS, TEXT, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods.shared.controller import Controller, most_choices
from pddlego_local.methods.shared.goal_planner import GoalPlanner


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Deps:
    """`max_retries` is how often an unusable answer is asked for again; `max_idle` sub-goals in a
    row that end without a command end the episode."""

    max_replans: Annotated[int, Field(ge=0)] = 5
    max_retries: Annotated[int, Field(ge=0)] = 5
    max_idle: Annotated[int, Field(ge=1)] = 20

    prompts = "deps"
    forms = (GOALS, TEXT, choice(1))
    learns = False

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """The plans, an explanation before each new one, and their controller."""
        choices = most_choices(budget.limit, self.max_idle)
        return (1 + 2 * self.max_replans + choices) * (1 + self.max_retries)

    def __call__(self, episode: Episode) -> str:
        """Returns success, success_at_start, no_plan (the planner named no sub-goal), replan_limit,
        no_progress (`max_idle`), game_lost or step_limit."""
        if episode.start().success:
            return "success_at_start"
        planner = GoalPlanner(episode, self.max_retries)
        controller = Controller(episode, max_retries=self.max_retries, max_idle=self.max_idle)
        goals = planner.plan(controller.step, replans=True, explains=True)
        replans = 0
        while goals:
            pursuits = controller.carry_out(goals)
            if outcome := pursuits[-1].outcome:
                return outcome
            if replans == self.max_replans:
                return "replan_limit"
            replans += 1
            untold = planner.explain(planner.describe(pursuits), controller.step)
            goals = planner.replan(untold, controller.step)
        return "no_plan"
