"""PDDL-gen (Zhang et al., "PDDLEGO: Iterative Planning in Textual Environments", §2): the domain is
given, and the model rewrites the whole problem after every plan."""

from collections.abc import Sequence

from pddlego_local.core.nouns import Turn
from pddlego_local.decoding.forms import PROBLEM, SEEN
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import prompting, settings
from pddlego_local.methods.shared.pddlego_loop import PddlegoLoop


@settings
class PddlGen(PddlegoLoop):
    forms = (PROBLEM, SEEN)

    def formalize(
        self, episode: Episode, news: Sequence[Turn], problem: str, *, step: int, retry: int
    ) -> Formalization:
        environment = episode.environment
        goals = environment.goals(episode.memory)
        shown = prompting.render(
            "pddlego/problem",
            environment.package,
            domain=environment.domain,
            goals=goals,
            observations=news,
            previous=problem,
        )
        return episode.propose(
            episode.question(PROBLEM, shown, domain=environment.domain, own_goal=False),
            lambda written, where: episode.plan(environment.domain, written.pf, where, goals=goals),
            step=step,
            retry=retry,
        )
