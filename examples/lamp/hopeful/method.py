"""Asks the model for domain and problem, plans, carries out the plan, and repeats."""

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from pddlego_local.decoding.forms import PDDL
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import prompting


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True, frozen=True)
class Hopeful:
    prompts = "hopeful.prompts"
    forms = (PDDL,)
    learns = False

    def __call__(self, episode: Episode) -> str:
        if episode.start().success:
            return "success_at_start"
        for step in episode.steps():
            shown = prompting.render(
                "hopeful.prompts/ask",
                episode.environment.package,
                memory=episode.memory,
                actions=episode.environment.actions,
            )
            pddl = episode.formalize(episode.question(PDDL, shown), step=step)
            if not pddl.plan:
                return "solver_abort"
            execution = episode.execute(pddl.plan)
            if execution.ended:
                return execution.ended
            episode.remember(execution.turns)
        return "step_limit"
