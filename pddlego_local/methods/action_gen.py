"""Action-gen (Zhang et al., "PDDLEGO", §2, equation 5): the model itself names the next
action.
"""

from pddlego_local.decoding.forms import COMMAND
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, Player, prompting, settings


@settings
class ActionGen(Player):
    """`max_retries` is how often an answer that names no action is sampled again."""

    max_retries: AtLeast0 = 5

    prompts = "action_gen"
    forms = (COMMAND,)

    def play(self, episode: Episode) -> str:
        """Returns success, no_action, game_lost or step_limit."""
        for step in episode.steps():
            shown = prompting.render(
                "action_gen/prompt",
                episode.environment.package,
                history=episode.memory,
                commands=episode.commands,
            )
            question = episode.question(COMMAND, shown)
            for retry in range(self.max_retries + 1):
                if command := episode.ask(question, step=step, retry=retry).value:
                    break
            else:
                return "no_action"
            execution = episode.act(command.action)  # a refused one is an ordinary turn
            if execution.ended:
                return execution.ended
            episode.remember(execution.turns)
        return "step_limit"
