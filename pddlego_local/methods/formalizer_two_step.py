"""A planning formalizer in two steps: the model writes the domain first, then the
problem for it. This corresponds to the arms in the code published with arXiv 2505.14763
that write the two files one after the other.
"""

from pddlego_local.decoding.forms import DOMAIN, PROBLEM
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import settings
from pddlego_local.methods.formalizer import Formalizer, in_words


@settings
class FormalizerTwoStep(Formalizer):
    """Settings of the method. `shows_domain` and `shows_domain_text` say whether the
    problem's prompt contains the domain file and the text of the domain. The published
    constrained arm shows only the file, the published free arm both. `rounds` and
    `wording` are as for `formalizer`: files without a plan are shown again with the
    planner's message, and both are written again.
    """

    shows_domain: bool = True
    shows_domain_text: bool = True

    forms = (DOMAIN, PROBLEM)
    templates = ("domain", "problem")

    def formalize(
        self, episode: Episode, previous: Formalization | None, retry: int
    ) -> Formalization | None:
        """Asks for the domain, then for the problem. Returns None if an answer has no
        domain.
        """
        domain_text, problem_text = in_words(episode.environment)
        shown = self.render(
            episode, "domain", domain_text=domain_text, previous=previous
        )
        answer = episode.ask(episode.question(DOMAIN, shown), step=1, retry=retry).value
        if answer is None:
            return None
        shown = self.render(
            episode,
            "problem",
            domain=answer.df if self.shows_domain else "",
            domain_text=domain_text if self.shows_domain_text else "",
            problem_text=problem_text,
            previous=previous,
        )
        question = episode.question(PROBLEM, shown, domain=answer.df)
        return episode.formalize(question, step=1, retry=retry)
