"""PDDL-gen (Zhang et al., "PDDLEGO: Iterative Planning in Textual Environments", §2): the domain is
given, and the model rewrites the whole problem after every plan."""

from pddlego_local.core.nouns import Turns
from pddlego_local.core.record.events import Where
from pddlego_local.decoding.forms import PROBLEM, SEEN, Problem
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import prompting, settings
from pddlego_local.methods.shared.pddlego_loop import PddlegoLoop


@settings
class PddlGen(PddlegoLoop):
    forms = (PROBLEM, SEEN)

    def formalize(
        self, episode: Episode, news: Turns, problem: str, *, step: int, retry: int
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
        domain = environment.domain
        question = episode.question(PROBLEM, shown, domain=domain, own_goal=False)

        def plan(written: Problem, where: Where) -> Formalization:
            return episode.plan(question, domain, written.pf, where, goals=goals, given=True)

        return episode.propose(question, plan, step=step, retry=retry)
