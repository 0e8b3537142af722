"""PDDL-edit (Zhang et al., "PDDLEGO: Iterative Planning in Textual Environments", §2):
the domain is given, and the model writes changes to the problem, which are applied
deterministically.
"""

import dataclasses
import json

from pddlego_local.core.nouns import Turns
from pddlego_local.core.record.events import EditApplied, Where
from pddlego_local.decoding.forms import EDIT, SEEN, Edit
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.planning import Formalization
from pddlego_local.methods import AtLeast0, added, prompting, settings
from pddlego_local.methods.shared.pddlego_loop import PddlegoLoop
from pddlego_local.methods.shared.solved import with_examples
from pddlego_local.pddl.edit import apply, empty_problem


@settings
class PddlEdit(PddlegoLoop):
    """Settings of the method. `shots` is the number of solved games before the
    question (`shared.solved`).
    """

    shots: AtLeast0 = added(0)

    forms = (EDIT, SEEN)
    asks_for = "edit"

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
        problem = problem or empty_problem(domain)
        shown = prompting.render(
            self.template(previous),
            environment.package,
            domain=domain,
            goals=goals,
            observations=news,
            problem=problem,
            tried=previous,
        )
        examples = with_examples(episode, self.without_examples, self.shots, shown)
        question = episode.question(
            EDIT, shown, examples, domain=domain, problem=problem
        )

        def plan(edit: Edit, where: Where) -> Formalization:
            edited, absent, redundant = apply(edit.model_dump(), problem)
            episode.record(EditApplied(where=where, faults=absent, redundant=redundant))
            planned = episode.plan(
                question, domain, edited, where, goals=goals, given=True
            )
            return dataclasses.replace(planned, answer=json.dumps(edit.model_dump()))

        return episode.propose(question, plan, step=step, retry=retry)

    @property
    def without_examples(self) -> "PddlEdit":
        return dataclasses.replace(self, shots=0, rounds=0, max_retries=0)
