"""PDDL-edit (Zhang et al., "PDDLEGO: Iterative Planning in Textual Environments", §2): the domain
is given, and the model writes changes to the problem, which are applied deterministically.
"""

from collections.abc import Sequence

from pddlego_local.core.nouns import Budget, Turn
from pddlego_local.core.record.events import EditApplied, Where
from pddlego_local.decoding.forms import EDIT, SEEN, Edit
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, prompts, settings
from pddlego_local.methods.shared.pddlego_loop import MAX_OPENED, explore
from pddlego_local.pddl.edit import apply, empty_problem


@settings
class PddlEdit:
    max_retries: AtLeast0 = 5

    prompts = "pddlego"
    forms = (EDIT, SEEN)
    learns = False

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """Each step looks around for things to pick up, and formalizes."""
        return budget.limit * (MAX_OPENED + (1 + self.max_retries) * best_of)

    def __call__(self, episode: Episode) -> str:
        """Returns success, success_at_start, no_plan, game_lost or step_limit."""
        problem = empty_problem(episode.environment.domain)
        return explore(episode, _formalize, max_retries=self.max_retries, problem=problem)


def _formalize(
    episode: Episode, news: Sequence[Turn], problem: str, *, step: int, retry: int
) -> Formalization:
    """Plans for the end goal or, failing that, for the next sub-goal that has a plan."""
    environment = episode.environment
    goals = environment.goals(episode.memory)
    shown = prompts.render(
        "pddlego/edit",
        environment.package,
        domain=environment.domain,
        goals=goals,
        observations=news,
        problem=problem,
    )
    question = episode.question(EDIT, shown, domain=environment.domain, problem=problem)

    def plan(edit: Edit, where: Where) -> Formalization:
        edited, absent = apply(edit.model_dump(), problem)
        episode.record(EditApplied(where=where, faults=absent))
        return episode.plan(environment.domain, edited, where, goals=goals)

    return episode.propose(question, plan, step=step, retry=retry)
