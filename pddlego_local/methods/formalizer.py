"""A planning formalizer (Huang and Zhang, "On the Limit of Language Models as Planning
Formalizers", §3): the model sees a whole world in words and writes both files at once.
"""

from typing import ClassVar, Literal

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.forms import PDDL, Form, Keys
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, prompting, settings
from pddlego_local.methods.shared.judging import in_words, judge

Wording = Literal["brief", "knowledge"]


@settings
class Formalizer:
    """`rounds` is how often files without a plan are shown to the model again, with what the
    planner said of them. `wording`: the task alone ("brief"), or after a page on what PDDL is, as
    the published prompts have it ("knowledge")."""

    rounds: AtLeast0 = 0
    wording: Wording = "brief"

    prompts = "formalizer"
    forms: ClassVar[tuple[Form[Keys], ...]] = (PDDL,)
    learns = False

    def most_calls(self, budget: Budget, best_of: int) -> int:
        return (1 + self.rounds) * best_of

    def __call__(self, episode: Episode) -> str:
        """Returns success, success_at_start, solver_abort, valid_but_wrong or step_limit."""
        if episode.start().success:
            return "success_at_start"
        previous: Formalization | None = None
        for retry in range(1 + self.rounds):
            pddl = self.formalize(episode, previous, retry)
            if pddl is None:
                continue
            if outcome := judge(episode, pddl):
                return outcome
            previous = pddl if pddl.problem or not previous else previous
        return "solver_abort"

    def formalize(
        self, episode: Episode, previous: Formalization | None, retry: int
    ) -> Formalization | None:
        """One round; None if its answer held nothing to go on with."""
        domain_text, problem_text = in_words(episode.environment)
        shown = prompting.render(
            "formalizer/files",
            episode.environment.package,
            wording=self.wording,
            domain_text=domain_text,
            problem_text=problem_text,
            previous=previous,
        )
        return episode.formalize(episode.question(PDDL, shown), step=1, retry=retry)
