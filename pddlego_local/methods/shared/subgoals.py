"""The parts of DEPS (Wang et al., "Describe, Explain, Plan and Select").

Descriptor, explainer and planner (§3.2) share one growing dialogue in which a language
model plans in words. The controller is a language model that carries out one sub-goal,
action by action (for text games, see §8.1 and §14.2).
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Turn, Turns
from pddlego_local.decoding.forms import GOALS, TEXT, Choice, Form, Goals, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, AtLeast1, Player, prompting, settings
from pddlego_local.methods.shared.dialogue import Dialogue


@dataclass(frozen=True)
class Situation:
    """Where the player is and what the player carries, according to the texts in
    `memory`.

    The templates call the methods with an environment's words (`deps.yaml` in its
    prompts): regular expressions with one group, the name.
    """

    memory: Turns

    def place(self, arrival: str) -> str:
        """Returns the last place that the player arrived at, or "" if there is none."""
        place = ""
        for turn in self.memory:
            if match := re.search(arrival, turn.text):
                place = match[1]
        return place

    def carried(self, taken: str, left: str) -> tuple[str, ...]:
        """Returns what the player took and has not left since, in the order of
        taking.
        """
        held: dict[str, None] = {}
        for turn in self.memory:
            if match := re.search(taken, turn.text):
                held[match[1]] = None
            elif match := re.search(left, turn.text):
                held.pop(match[1], None)
        return tuple(held)


@dataclass(frozen=True)
class Pursuit:
    """The result of one sub-goal.

    `ended` is "accomplished" or "failed", in the controller's judgement, or else the
    outcome that ended the episode. `reason` is the controller's reason, and `turns` are
    its actions. `error` says why the game refused the last action, if it did.
    """

    goal: str
    ended: str
    reason: str
    turns: tuple[Turn, ...]
    error: str = ""

    @property
    def outcome(self) -> str:
        """The episode's outcome, "" while it goes on."""
        return "" if self.ended in ("accomplished", "failed") else self.ended


class Controller:
    """Carries out sub-goals, with one command in each step of the episode.

    `step` is 0 when the budget is spent. `max_idle` sub-goals in a row that end without
    a command end the episode, because the budget would not end it.
    """

    def __init__(self, episode: Episode, max_retries: int, max_idle: int) -> None:
        self.episode = episode
        self.max_retries = max_retries
        self._max_idle = max_idle
        self._idle = 0
        self._ended: Counter[str] = Counter()
        self._steps = episode.steps()
        self.step = next(self._steps, 0)

    def carry_out(self, goals: Iterable[str]) -> list[Pursuit]:
        """Pursues one sub-goal after the other, until the first that is not
        accomplished. The next one is taken from `goals` when the last one has ended.
        """
        pursuits: list[Pursuit] = []
        for goal in goals:
            pursuits.append(self.pursue(goal))
            if pursuits[-1].ended != "accomplished":
                break
        return pursuits

    def pursue(self, goal: str) -> Pursuit:
        """Pursues one sub-goal. It ends as accomplished, failed, success, game_lost,
        step_limit or no_progress.
        """
        pursuit = self._pursue(goal)
        self._idle = 0 if pursuit.turns else self._idle + 1
        if self._idle >= self._max_idle and not pursuit.outcome:
            pursuit = dataclasses.replace(pursuit, ended="no_progress")
        self._ended[pursuit.ended] += 1
        self.episode.note(subgoals=dict(self._ended))
        return pursuit

    def _pursue(self, goal: str) -> Pursuit:
        dialogue = Dialogue(self.episode, self.max_retries)
        turns: tuple[Turn, ...] = ()
        error = ""
        while self.step:
            commands = self.episode.commands
            chosen = self._choose(dialogue, goal, turns, error)
            if chosen is None:
                reason = "The controller gave no usable answer."
                return Pursuit(goal, "failed", reason, turns, error)
            if chosen.number == 0:
                return Pursuit(goal, "failed", chosen.reason, turns, error)
            if chosen.number > len(commands):
                return Pursuit(goal, "accomplished", chosen.reason, turns, error)
            done = self.episode.act(commands[chosen.number - 1])
            self.episode.remember(done.turns)
            turns = (*turns, *done.turns)
            error = done.error
            self.step = next(self._steps, 0)
            if done.ended:
                return Pursuit(goal, done.ended, chosen.reason, turns, error)
        return Pursuit(goal, "step_limit", "", turns, error)

    def _choose(
        self, dialogue: Dialogue, goal: str, turns: Turns, error: str
    ) -> Choice | None:
        """Asks for a command. The first question of a sub-goal shows the situation, a
        later one the result of the last command.
        """
        memory = self.episode.memory
        commands = self.episode.commands
        question = prompting.render(
            "deps/continue" if turns else "deps/controller",
            self.episode.environment.package,
            goal=goal,
            situation=Situation(memory),
            memory=memory,
            latest=memory[-1:],
            error=error,
            commands=commands,
        )
        form = choice(len(commands) + 1)
        return dialogue.ask(
            question.text, form, step=self.step, commands=commands, goal=goal
        )


class GoalPlanner:
    """Plans sub-goals in words.

    The sub-goals are numbered through the episode, and a new plan begins at the number
    of the sub-goal that failed. An empty plan means that the model named no sub-goal.
    The `form` of a plan is GOALS, or PARALLEL_GOALS if a selector reads it.
    """

    def __init__(self, controller: Controller, form: Form[Goals] = GOALS) -> None:
        self._form = form
        self._controller = controller
        self._episode = controller.episode
        self._dialogue = Dialogue(controller.episode, controller.max_retries)
        self._number = 1
        self._plans = 0

    def plan(self, *, replans: bool = False, explains: bool = False) -> tuple[str, ...]:
        """Returns the whole plan, from the first observation. `replans` and `explains`
        make the prompt announce later questions.
        """
        question = self._render(
            "planner",
            replans=replans,
            explains=explains,
            parallel=self._form is not GOALS,
            form=self._form.example,
        )
        return self._goals(question)

    def replan(self, unsent: str) -> tuple[str, ...]:
        """Returns the plan from the failed sub-goal on. `unsent` is the part of the
        question that the dialogue does not contain yet.
        """
        question = self._render("replan", form=self._form.example)
        return self._goals(f"{unsent}\n\n{question}".lstrip())

    def next_goal(self, description: str = "") -> str:
        """Returns one sub-goal, as Inner Monologue plans. `description` is the result
        of the last one.
        """
        question = self._render("monologue")
        if description:
            question = f"{description}\n\n{self._render('next')}"
        goals = self._goals(question)
        return goals[0] if goals else ""

    def describe(self, pursuits: Sequence[Pursuit], *, finished: bool = True) -> str:
        """Returns the descriptor's text: which steps succeeded, which one failed and
        why, and the state in words. If all succeeded and the plan is `finished`, the
        text says that the task is not done.
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

    def explain(self, description: str) -> str:
        """Asks the explainer why the plan failed. Returns the part of the next question
        that the dialogue does not contain yet: "" after an explanation, otherwise the
        description.
        """
        question = f"{description}\n\n{self._render('explainer')}"
        explained = self._dialogue.ask(question, TEXT, step=self._controller.step)
        return "" if explained else description

    def _goals(self, question: str) -> tuple[str, ...]:
        self._plans += 1
        self._episode.note(plans=self._plans)
        answer = self._dialogue.ask(question, self._form, step=self._controller.step)
        goals = answer.goals if answer else []
        return tuple(goal.strip() for goal in goals if goal.strip())

    def _render(self, part: str, **facts: object) -> str:
        first = self._episode.memory[0].text
        package = self._episode.environment.package
        shown = prompting.render(
            f"deps/{part}", package, look=first, number=self._number, **facts
        )
        return shown.text


@settings
class SubgoalPlayer(Player):
    """The settings of the methods in which a planner names sub-goals and a controller
    chooses.
    """

    max_retries: AtLeast0 = 5
    max_idle: AtLeast1 = 20

    prompts = "deps"

    def controller(self, episode: Episode) -> Controller:
        return Controller(episode, self.max_retries, self.max_idle)
