"""PDDLego+ (Gong et al., "Zero-Shot Iterative Formalization and Planning in Partially Observable
Environments", §3): the model writes the domain and the problem, and both are grown and repaired.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local import prompts
from pddlego_local.core import Message, Prompt, Turn
from pddlego_local.episode import Episode, Formalization, told

SHOWN = {
    "detailed": ("goal_template", "goal_hint"),
    "simple": (),
    "simple_goal": ("goal_template",),
    "simple_hint": ("goal_hint",),
}


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class PddlegoPlus:
    """Settings of the method; calling it plays one episode.

    `max_steps` counts plan rounds. `keep_prefix` keeps the successful part of a plan whose later
    action failed, as later forks of the published code do; the paper discards it.
    """

    max_steps: Annotated[int, Field(ge=1)] = 20
    max_attempts: Annotated[int, Field(ge=1)] = 5
    max_retries: Annotated[int, Field(ge=0)] = 5
    variant: Literal["detailed", "simple", "simple_goal", "simple_hint"] = "detailed"
    keep_prefix: bool = False

    name = "pddlego_plus"

    def __call__(self, episode: Episode) -> str:
        """Returns success, success_at_start, solver_abort, simulation_abort or step_limit."""
        first = episode.start()
        if first.success:
            return "success_at_start"
        news, commands = episode.memory, first.commands
        pddl: Formalization | None = None
        for step in range(1, self.max_steps + 1):
            error = ""
            for attempt in range(1, self.max_attempts + 1):  # the outer loop, simulation errors
                if attempt > 1:
                    episode.restart()
                round_ = _Round(step, attempt, news, commands, error)
                pddl = self._refine_until_planned(episode, round_, pddl)
                if not pddl.plan:
                    return "solver_abort"
                execution = episode.execute(pddl.plan)
                if execution.success:
                    return "success"
                if not execution.error:
                    break
                error = execution.error
                if self.keep_prefix:
                    episode.remember(execution.turns)
            else:
                return "simulation_abort"
            episode.remember(execution.turns)
            news, commands = execution.turns, execution.commands
        return "step_limit"

    def _refine_until_planned(
        self, episode: Episode, round_: "_Round", previous: Formalization | None
    ) -> Formalization:
        """The inner loop, solver errors: asks again with the planner's message."""
        pddl = self._formalize(episode, round_, previous, retry=0)
        for retry in range(1, self.max_retries + 1):
            if pddl.plan:
                break
            previous = pddl if pddl.domain else previous
            pddl = self._formalize(episode, round_, previous, retry, solver_error=pddl.message)
        return pddl

    def _formalize(
        self,
        episode: Episode,
        round_: "_Round",
        previous: Formalization | None,
        retry: int,
        solver_error: str = "",
    ) -> Formalization:
        text = prompts.render(
            self.name,
            episode.environment.name,
            actions=episode.environment.actions,
            shown=SHOWN[self.variant],
            observations=told(round_.news),
            commands=round_.commands,
            memory=told(episode.memory),
            previous=previous,
            solver_error=solver_error,
            simulation_error=round_.error,
            repetition=" , ".join(repeated(episode.memory)),
        )
        prompt = Prompt((Message("user", text),), episode.environment.name, episode.memory)
        return episode.formalize(prompt, step=round_.step, attempt=round_.attempt, retry=retry)


@dataclass(frozen=True)
class _Round:
    """What every prompt of one attempt has in common."""

    step: int
    attempt: int
    news: Sequence[Turn]
    commands: Sequence[str]
    error: str


def repeated(memory: Sequence[Turn]) -> list[str]:
    """The commands, if any, that end the memory three times in a row (the shortest such run)."""
    commands = [turn.command for turn in memory[1:]]
    for length in range(1, len(commands) // 3 + 1):
        last = commands[-length:]
        if commands[-3 * length :] == last * 3:
            return last
    return []
