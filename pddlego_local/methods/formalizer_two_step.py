"""A planning formalizer in two steps: the domain first, then the problem for it (the arms of the
code published with arXiv 2505.14763 that write the two files one after the other).
"""

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.forms import DOMAIN, PROBLEM
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import prompting, settings
from pddlego_local.methods.formalizer import Formalizer, in_words


@settings
class FormalizerTwoStep(Formalizer):
    """`shows_domain` and `shows_domain_text`: whether the problem's prompt holds the domain file,
    and whether it holds the text of the domain; the published constrained arm shows the file alone,
    the published free one both. `rounds` and `wording` as for `formalizer`: what has no plan is
    shown again with what the planner said, and both files are written again.
    """

    shows_domain: bool = True
    shows_domain_text: bool = True

    forms = (DOMAIN, PROBLEM)

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """A domain, and as many problems for it as `best_of` says."""
        return (1 + self.rounds) * (1 + best_of)

    def formalize(
        self, episode: Episode, previous: Formalization | None, retry: int
    ) -> Formalization | None:
        """None if there was no domain in the answer."""
        package = episode.environment.package
        domain_text, problem_text = in_words(episode.environment)
        shown = prompting.render(
            "formalizer/domain",
            package,
            wording=self.wording,
            domain_text=domain_text,
            previous=previous,
        )
        answer = episode.ask(episode.question(DOMAIN, shown), step=1, retry=retry).value
        if answer is None:
            return None
        shown = prompting.render(
            "formalizer/problem",
            package,
            wording=self.wording,
            domain=answer.df if self.shows_domain else "",
            domain_text=domain_text if self.shows_domain_text else "",
            problem_text=problem_text,
            previous=previous,
        )
        question = episode.question(PROBLEM, shown, domain=answer.df)
        return episode.propose(
            question,
            lambda written, where: episode.plan(question, answer.df, written.pf, where),
            step=1,
            retry=retry,
        )
