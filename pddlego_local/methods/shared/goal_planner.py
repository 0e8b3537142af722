"""Descriptor, explainer and planner of DEPS (Wang et al., "Describe, Explain, Plan and Select",
§3.2): one growing dialogue in which a language model plans in words.
"""

from collections.abc import Sequence

from pddlego_local.decoding.forms import GOALS, TEXT
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import prompts
from pddlego_local.methods.shared.controller import Pursuit
from pddlego_local.methods.shared.dialogue import Dialogue
from pddlego_local.methods.shared.situation import Situation


class GoalPlanner:
    """Plans are sub-goals in words, numbered through the episode: a new plan takes over at the
    number of the sub-goal that failed. An empty plan says that the model named no sub-goal.
    """

    def __init__(self, episode: Episode, max_retries: int) -> None:
        self._episode = episode
        self._dialogue = Dialogue(episode, max_retries)
        self._number = 1
        self._plans = 0

    def plan(self, step: int, *, replans: bool = False, explains: bool = False) -> tuple[str, ...]:
        """The whole plan, from the first observation; the prompt says if more is asked."""
        question = self._render("planner", look=self._look(), replans=replans, explains=explains)
        return self._goals(question, step)

    def replan(self, untold: str, step: int) -> tuple[str, ...]:
        """The plan from the failed sub-goal on; `untold` is what the dialogue does not hold yet."""
        question = self._render("replan", number=self._number)
        return self._goals(f"{untold}\n\n{question}".lstrip(), step)

    def next_goal(self, step: int, description: str = "") -> str:
        """One sub-goal, as Inner Monologue plans; `description` tells what came of the last one."""
        if description:
            question = f"{description}\n\n{self._render('next', number=self._number)}"
        else:
            question = self._render("monologue", look=self._look())
        return next(iter(self._goals(question, step)), "")

    def describe(self, pursuits: Sequence[Pursuit], *, finished: bool = True) -> str:
        """The descriptor: which steps succeeded, which one failed and why, and the state in words.

        If all succeeded, a `finished` plan is said not to have done the task.
        """
        last = pursuits[-1]
        numbered = list(enumerate(pursuits, self._number))
        self._number += sum(pursuit.ended == "accomplished" for pursuit in pursuits)
        return self._render(
            "descriptor",
            pursuits=numbered,
            finished=finished and last.ended == "accomplished",
            situation=Situation(self._episode.memory),
            seen=last.turns or self._episode.memory[-1:],
            error=last.error,
        )

    def explain(self, description: str, step: int) -> str:
        """The explainer: asks why the plan failed. Returns what is still to be told before the next
        plan: nothing, as it now stands in the dialogue; the description if nothing was explained.
        """
        question = f"{description}\n\n{self._render('explainer')}"
        return "" if self._dialogue.ask(question, TEXT, step=step) else description

    def _goals(self, question: str, step: int) -> tuple[str, ...]:
        self._plans += 1
        self._episode.note(plans=self._plans)
        answer = self._dialogue.ask(question, GOALS, step=step)
        return tuple(filter(None, map(str.strip, answer.goals))) if answer else ()

    def _look(self) -> str:
        return self._episode.memory[0].text

    def _render(self, part: str, **facts: object) -> str:
        return prompts.render(f"deps/{part}", self._episode.environment.package, **facts).text
