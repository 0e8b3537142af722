"""The random baseline (Zhang et al., "PDDLEGO", table 1): it draws a valid action
uniformly.
"""

import random

from pddlego_local.core.errors import ConfigError
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import Player, settings


@settings
class RandomPolicy(Player):
    """A method that asks no model; its random choices come from the episode's seed."""

    prompts = ""
    forms = ()

    def play(self, episode: Episode) -> str:
        """Returns success, game_lost or step_limit. Raises ConfigError if the
        environment does not list the valid commands.
        """
        rng = random.Random(episode.seed)
        for _ in episode.steps():
            if not episode.commands:
                raise ConfigError(
                    f"{episode.environment.name} does not list the valid commands."
                )
            execution = episode.act(rng.choice(episode.commands))
            if execution.ended:
                return execution.ended
            episode.remember(execution.turns)
        return "step_limit"
