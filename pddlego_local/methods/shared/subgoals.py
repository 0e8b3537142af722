"""The parts of DEPS (Wang et al., "Describe, Explain, Plan and Select"). Descriptor, explainer and
planner (§3.2) are one growing dialogue in which a language model plans in words; the controller is
a language model that carries out one sub-goal, action by action (in text games: §8.1, §14.2).
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Turn
from pddlego_local.decoding.forms import GOALS, TEXT, Choice, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import prompting
from pddlego_local.methods.shared.dialogue import Dialogue


@dataclass(frozen=True)
class Situation:
    """Where the player is and what the player carries, as far as the texts in `memory` tell. The
    templates call this with an environment's words (`deps.yaml` in its prompts): regular
    expressions with one group, the name."""

    memory: Sequence[Turn]

    def place(self, arrival: str) -> str:
        """The last place that the player arrived at; "" if there is none."""
        named = [match[1] for turn in self.memory if (match := re.search(arrival, turn.text))]
        return named[-1] if named else ""

    def carried(self, taken: str, left: str) -> tuple[str, ...]:
        """What was taken and not left since, in the order in which it was taken."""
        held: dict[str, None] = {}
        for turn in self.memory:
            if match := re.search(taken, turn.text):
                held[match[1]] = None
            elif match := re.search(left, turn.text):
                held.pop(match[1], None)
        return tuple(held)


@dataclass(frozen=True)
class Pursuit:
    """What became of one sub-goal. `ended` is "accomplished" or "failed", by the controller's own
    judgement, or else the outcome that ended the episode. `reason` is the controller's; `turns` are
    what it did; `error` says why the game refused the last of them, if it did."""

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
    """One step of the episode is one command; `step` is 0 when the budget is spent. `max_idle`
    sub-goals in a row that end without a command end the episode: no budget would."""

    def __init__(self, episode: Episode, max_retries: int, max_idle: int) -> None:
        self.episode = episode
        self.max_retries = max_retries
        self._max_idle = max_idle
        self._idle = 0
        self._ended: Counter[str] = Counter()
        self._steps = episode.steps()
        self.step = next(self._steps, 0)

    def carry_out(self, goals: Sequence[str]) -> list[Pursuit]:
        """One sub-goal after the other, until the first that is not accomplished."""
        pursuits: list[Pursuit] = []
        for goal in goals:
            pursuits.append(self.pursue(goal))
            if pursuits[-1].ended != "accomplished":
                break
        return pursuits

    def pursue(self, goal: str) -> Pursuit:
        """Ends as accomplished, failed, success, game_lost, step_limit or no_progress."""
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
            if not 0 < chosen.number <= len(commands):
                ended = "accomplished" if chosen.number else "failed"
                return Pursuit(goal, ended, chosen.reason, turns, error)
            done = self.episode.act(commands[chosen.number - 1])
            self.episode.remember(done.turns)
            turns, error = (*turns, *done.turns), done.error
            self.step = next(self._steps, 0)
            if done.ended:
                return Pursuit(goal, done.ended, chosen.reason, turns, error)
        return Pursuit(goal, "step_limit", "", turns, error)

    def _choose(
        self, dialogue: Dialogue, goal: str, turns: Sequence[Turn], error: str
    ) -> Choice | None:
        """The first question of a sub-goal tells the situation, a later one what the last command
        gave."""
        memory, commands = self.episode.memory, self.episode.commands
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
        return dialogue.ask(question.text, form, step=self.step, commands=commands, subgoal=goal)


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
        shown = prompting.render(f"deps/{part}", package, look=look, number=self._number, **facts)
        return shown.text


def most_choices(commands: int, max_idle: int) -> int:
    """Usable answers of the controller in an episode of so many commands: one for each command, and
    one at each sub-goal's end. A command may come after `max_idle` sub-goals that end without any.
    """
    return commands + commands * max_idle
