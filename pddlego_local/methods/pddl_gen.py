"""PDDL-gen (Zhang et al., "PDDLEGO: Iterative Planning in Textual Environments", §2):
the domain is given, and the model rewrites the whole problem after every plan.
"""

from pddlego_local.core.nouns import Turns
from pddlego_local.decoding.forms import PROBLEM, SEEN
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import prompting, settings
from pddlego_local.methods.shared.pddlego_loop import PddlegoLoop


@settings
class PddlGen(PddlegoLoop):
    forms = (PROBLEM, SEEN)
    asks_for = "problem"

    def formalize(
        self,
        episode: Episode,
        news: Turns,
        problem: str,
        previous: Formalization | None,
        *,
        step: int,
        retry: int,
    ) -> Formalization:
        environment = episode.environment
        domain = environment.domain
        goals = environment.goals(episode.memory)
        shown = prompting.render(
            self.template(previous),
            environment.package,
            domain=domain,
            goals=goals,
            observations=news,
            previous=problem,
            tried=previous,
        )
        question = episode.question(PROBLEM, shown, domain=domain, own_goal=False)
        return episode.formalize(
            question, step=step, retry=retry, goals=goals, given=True
        )
