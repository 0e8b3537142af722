"""The baseline of PDDLego+ (Gong et al., §4: "PDDLego"), not the method of the paper
PDDLego: the model writes domain and problem, and nothing is refined. The first error of
the solver or the simulation ends the episode.
"""

from pddlego_local.decoding.forms import PDDL
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import Player, settings
from pddlego_local.methods.pddlego_plus import PddlegoPlus, Variant, template_of


@settings
class Pddlego(Player):
    """Settings of the method. It uses the prompts of PDDLego+, in the same variants."""

    variant: Variant = "detailed"

    prompts = "pddlego_plus"
    forms = (PDDL,)

    @property
    def templates(self) -> tuple[str]:
        return (template_of(self.variant),)

    def play(self, episode: Episode) -> str:
        """Returns success, solver_abort, simulation_abort, game_lost or step_limit."""
        unrefined = PddlegoPlus(variant=self.variant, max_attempts=1, rounds=0)
        return unrefined.play(episode)
