"""Descriptor, explainer and planner of DEPS (Wang et al., "Describe, Explain, Plan and Select",
§3.2): one growing dialogue in which a language model plans in words.
"""

from collections.abc import Sequence

from pddlego_local.decoding.forms import GOALS, TEXT
from pddlego_local.methods import prompts
from pddlego_local.methods.shared.controller import Controller, Pursuit, Situation
from pddlego_local.methods.shared.dialogue import Dialogue


class GoalPlanner:
    """Plans are sub-goals in words, numbered through the episode: a new plan takes over at the
    number of the sub-goal that failed. An empty plan says that the model named no sub-goal."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._episode = controller.episode
        self._dialogue = Dialogue(controller.episode, controller.max_retries)
        self._number = 1
        self._plans = 0

    def plan(self, *, replans: bool = False, explains: bool = False) -> tuple[str, ...]:
        """The whole plan, from the first observation; the prompt says if more is asked."""
        return self._goals(self._render("planner", replans=replans, explains=explains))

    def replan(self, untold: str) -> tuple[str, ...]:
        """The plan from the failed sub-goal on; `untold` is what the dialogue does not hold yet."""
        return self._goals(f"{untold}\n\n{self._render('replan')}".lstrip())

    def next_goal(self, description: str = "") -> str:
        """One sub-goal, as Inner Monologue plans; `description` tells what came of the last one."""
        after = f"{description}\n\n{self._render('next')}"
        goals = self._goals(after if description else self._render("monologue"))
        return next(iter(goals), "")

    def describe(self, pursuits: Sequence[Pursuit], *, finished: bool = True) -> str:
        """The descriptor: which steps succeeded, which one failed and why, and the state in words.
        If all succeeded, a `finished` plan is said not to have done the task."""
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

    def explain(self, description: str) -> str:
        """The explainer: asks why the plan failed. Returns what is still to be told before the next
        plan: nothing, as it now stands in the dialogue; the description if nothing was explained.
        """
        question = f"{description}\n\n{self._render('explainer')}"
        return "" if self._dialogue.ask(question, TEXT, step=self._controller.step) else description

    def _goals(self, question: str) -> tuple[str, ...]:
        self._plans += 1
        self._episode.note(plans=self._plans)
        answer = self._dialogue.ask(question, GOALS, step=self._controller.step)
        return tuple(filter(None, map(str.strip, answer.goals))) if answer else ()

    def _render(self, part: str, **facts: object) -> str:
        look = self._episode.memory[0].text
        package = self._episode.environment.package
        shown = prompts.render(f"deps/{part}", package, look=look, number=self._number, **facts)
        return shown.text
