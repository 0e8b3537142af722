"""PlanGen, the baseline of PDDLego+ (Gong et al., §4, appendices C.5 and C.10): the model names one
action per call, in the same simulation loop, and is told why an action was refused.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local import prompts
from pddlego_local.core import Budget, Message, Prompt, Turn
from pddlego_local.decoding.forms import COMMAND
from pddlego_local.episode import Episode, told


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class PlanGen:
    """A refused action does not stay: the game is reset and the memory replayed before the next
    attempt (the released ALFWorld code reset it without replaying)."""

    max_attempts: Annotated[int, Field(ge=1)] = 5

    prompts = "plangen"
    forms = (COMMAND,)
    learns = False

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """Each step has `max_attempts`, of one answer."""
        return budget.limit * self.max_attempts

    def __call__(self, episode: Episode) -> str:
        """Returns success, success_at_start, simulation_abort, game_lost or step_limit."""
        if episode.start().success:
            return "success_at_start"
        news: Sequence[Turn] = episode.memory
        for step in episode.steps():
            error, refused = "", False
            for attempt in range(1, self.max_attempts + 1):
                if refused:
                    episode.restart()
                prompt = _prompt(episode, news, error)
                answer = episode.ask(prompt, COMMAND, step=step, attempt=attempt)
                if not answer.value:
                    error, refused = COMMAND.message(answer.fault), False
                    continue
                execution = episode.act(answer.value.action)
                if execution.ended:
                    return execution.ended
                if not execution.error:
                    break
                error, refused = f"{told(execution.turns)}\n{execution.error}", True
            else:
                return "simulation_abort"
            episode.remember(execution.turns)
            news = execution.turns
        return "step_limit"


def _prompt(episode: Episode, news: Sequence[Turn], error: str) -> Prompt:
    environment = episode.environment
    text = prompts.render(
        "plangen/prompt",
        environment.package,
        actions=environment.actions,
        observations=told(news),
        commands=episode.commands,
        memory=told(episode.memory),
        error=error,
    )
    return Prompt((Message("user", text),), "action", environment.package, episode.memory)
