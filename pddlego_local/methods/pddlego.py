"""PDDLego+'s baseline (Gong et al., §4: "PDDLego"), not the method of the paper PDDLego: the model
writes domain and problem, and nothing is refined. The first error of solver or simulation ends the
episode.
"""

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.forms import PDDL
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import Player, settings
from pddlego_local.methods.pddlego_plus import PddlegoPlus, Variant


@settings
class Pddlego(Player):
    """Its prompts are PDDLego+'s, `variant` too."""

    variant: Variant = "detailed"

    prompts = "pddlego_plus"
    forms = (PDDL,)

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """One formalization a step."""
        return budget.limit * best_of

    def play(self, episode: Episode) -> str:
        """Returns success, solver_abort, simulation_abort, game_lost or step_limit."""
        return PddlegoPlus(variant=self.variant, max_attempts=1, max_retries=0).play(episode)
