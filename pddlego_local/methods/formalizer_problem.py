"""A planning formalizer that is given the domain: the model writes the problem file
alone, after solved examples. Planetarium (arXiv 2407.03321, §3) asks the same, without
examples.
"""

from typing import ClassVar

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.protocols import WithExamples
from pddlego_local.decoding.forms import PROBLEM, Fields, Form
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, Player, added, prompting, settings
from pddlego_local.methods.formalizer import in_words, judge


@settings
class FormalizerProblem(Player):
    """Settings of the method. `shots` is the number of solved examples in the prompt:
    other worlds of the same kind, with their gold problem files.
    """

    shots: AtLeast0 = 3
    rounds: AtLeast0 = added(0)

    prompts = "formalizer_problem"
    one_problem = True
    forms: ClassVar[tuple[Form[Fields], ...]] = (PROBLEM,)

    @property
    def templates(self) -> tuple[str, ...]:
        return ("problem", "again") if self.rounds else ("problem",)

    def play(self, episode: Episode) -> str:
        """Returns success, solver_abort, valid_but_wrong or step_limit. Raises
        ConfigError if there are not enough examples.
        """
        world = episode.environment
        domain_text, problem_text = in_words(world)
        solved = world.solved(self.shots) if isinstance(world, WithExamples) else ()
        if len(solved) < self.shots:
            raise ConfigError(
                f"method.shots={self.shots}: there are only {len(solved)} other worlds"
                f" to show; choose at most method.shots={len(solved)}"
            )
        previous: Formalization | None = None
        for retry in range(1 + self.rounds):
            shown = prompting.render(
                f"formalizer_problem/{'again' if previous else 'problem'}",
                world.package,
                domain_text=domain_text,
                domain=world.domain,
                solved=solved,
                problem_text=problem_text,
                tried=previous,
            )
            question = episode.question(PROBLEM, shown, domain=world.domain)
            previous = episode.formalize(question, step=1, retry=retry, given=True)
            if outcome := judge(episode, previous):
                return outcome
        return "solver_abort"
