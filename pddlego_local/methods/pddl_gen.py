"""PDDL-gen (Zhang et al., "PDDLEGO: Iterative Planning in Textual Environments", §2): the domain is
given, and the model rewrites the whole problem after every plan."""

from collections.abc import Sequence

from pddlego_local.core.nouns import Budget, Turn
from pddlego_local.core.record.events import Where
from pddlego_local.decoding.forms import PROBLEM, SEEN, Problem
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, prompts, settings
from pddlego_local.methods.shared.pddlego_loop import MAX_OPENED, explore


@settings
class PddlGen:
    max_retries: AtLeast0 = 5

    prompts = "pddlego"
    forms = (PROBLEM, SEEN)
    learns = False

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """Each step looks around for things to pick up, and formalizes."""
        return budget.limit * (MAX_OPENED + (1 + self.max_retries) * best_of)

    def __call__(self, episode: Episode) -> str:
        """Returns success, success_at_start, no_plan, game_lost or step_limit."""
        return explore(episode, _formalize, max_retries=self.max_retries)


def _formalize(
    episode: Episode, news: Sequence[Turn], problem: str, *, step: int, retry: int
) -> Formalization:
    """Plans for the end goal or, failing that, for the next sub-goal that has a plan."""
    environment = episode.environment
    goals = environment.goals(episode.memory)
    shown = prompts.render(
        "pddlego/problem",
        environment.package,
        domain=environment.domain,
        goals=goals,
        observations=news,
        previous=problem,
    )
    question = episode.question(PROBLEM, shown, domain=environment.domain, own_goal=False)

    def plan(written: Problem, where: Where) -> Formalization:
        return episode.plan(environment.domain, written.pf, where, goals=goals)

    return episode.propose(question, plan, step=step, retry=retry)
