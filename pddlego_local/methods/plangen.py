"""PlanGen, the baseline of PDDLego+ (Gong et al., §4, appendices C.5 and C.10): the
model names one action per call, in the same simulation loop, and is shown why an action
was refused.
"""

from pddlego_local.core.nouns import Turns
from pddlego_local.decoding.forms import COMMAND
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.game_runner import Execution
from pddlego_local.methods import AtLeast1, Player, prompting, settings


@settings
class PlanGen(Player):
    """A refused action is undone: the game is reset and the memory replayed before the
    next attempt (the released ALFWorld code reset it without replaying).
    """

    max_attempts: AtLeast1 = 5

    prompts = "plangen"
    forms = (COMMAND,)

    def play(self, episode: Episode) -> str:
        """Returns success, simulation_abort, game_lost or step_limit."""
        news: Turns = episode.memory
        for step in episode.steps():
            execution, error = Execution(), ""
            for attempt in range(1, self.max_attempts + 1):
                if execution.error:
                    episode.restart()
                shown = prompting.render(
                    "plangen/prompt",
                    episode.environment.package,
                    actions=episode.environment.actions,
                    observations=news,
                    commands=episode.commands,
                    shows_commands=episode.environment.shows_commands,
                    memory=episode.memory,
                    refused=execution.turns,
                    error=error,
                )
                answer = episode.ask(
                    episode.question(COMMAND, shown), step=step, attempt=attempt
                )
                if not answer.value:
                    execution, error = Execution(), COMMAND.message(answer.fault)
                    continue
                execution = episode.act(answer.value.action)
                if execution.ended:
                    return execution.ended
                if not execution.error:
                    break
                error = execution.error
            else:
                return "simulation_abort"
            episode.remember(execution.turns)
            news = execution.turns
        return "step_limit"
