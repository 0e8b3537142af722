"""A planning formalizer (Huang and Zhang, "On the Limit of Language Models as Planning
Formalizers", §3): the model sees a whole world in words and writes both files at once.
"""

from typing import ClassVar, Literal

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import PLANNED
from pddlego_local.core.protocols import DescribedInText, Environment, WithGold
from pddlego_local.decoding.forms import PDDL, Fields, Form
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.episode.shown import Shown
from pddlego_local.methods import AtLeast0, Player, prompting, settings

Wording = Literal["brief", "knowledge"]


@settings
class Formalizer(Player):
    """Settings of the method. `rounds` is how often files without a plan are shown to
    the model again, with the planner's message. `wording` is "brief" (the task alone)
    or "knowledge" (the task after a page on what PDDL is, as in the published prompts).
    """

    rounds: AtLeast0 = 0
    wording: Wording = "brief"

    prompts = "formalizer"
    one_problem = True
    templates: ClassVar[tuple[str, ...]] = ("files",)
    forms: ClassVar[tuple[Form[Fields], ...]] = (PDDL,)

    def play(self, episode: Episode) -> str:
        """Returns success, solver_abort, valid_but_wrong or step_limit."""
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
        """Asks once for the files. A subclass that has no usable domain returns
        None.
        """
        domain_text, problem_text = in_words(episode.environment)
        shown = self.render(
            episode,
            "files",
            domain_text=domain_text,
            problem_text=problem_text,
            previous=previous,
        )
        return episode.formalize(episode.question(PDDL, shown), step=1, retry=retry)

    def render(self, episode: Episode, part: str, **facts: object) -> Shown:
        """Renders the request for one part of the PDDL, or for both files."""
        package = episode.environment.package
        return prompting.render(
            f"formalizer/{part}", package, wording=self.wording, **facts
        )


def in_words(environment: Environment) -> tuple[str, str]:
    """Returns the texts of domain and problem. Raises ConfigError if the environment
    does not describe its whole world in texts.
    """
    if not isinstance(environment, DescribedInText):
        raise ConfigError(
            f"environment={environment.name} does not describe its whole world in"
            " texts, as this method requires; choose environment=described or"
            " method=pddlego_plus."
        )
    return environment.texts


def judge(episode: Episode, pddl: Formalization) -> str:
    """Notes whether the problem file, if there is one, is equivalent to the gold file,
    and validates the plan against the gold files, as VAL would. Returns success,
    valid_but_wrong or step_limit, or "" if there is no plan.
    """
    if pddl.problem and isinstance(episode.environment, WithGold):
        episode.note(equivalence=episode.environment.equivalence(pddl.problem))
    if pddl.cause not in PLANNED:
        return ""
    done = episode.execute(pddl.plan, to_its_end=True)
    if done.ended == "success":
        return "success"
    if not done.error and len(done.turns) < len(pddl.plan):
        return "step_limit"
    episode.note(gold_says=done.error or "The plan ends where the goal is not reached.")
    return "valid_but_wrong"
