"""The controller of DEPS in text games (Wang et al., "Describe, Explain, Plan and Select", §8.1 and
§14.2): a language model that carries out one sub-goal, action by action.
"""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Turn
from pddlego_local.decoding.forms import Choice, choice
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import prompts
from pddlego_local.methods.shared.dialogue import Dialogue
from pddlego_local.methods.shared.situation import Situation


@dataclass(frozen=True)
class Pursuit:
    """What became of one sub-goal.

    `ended` is "accomplished" or "failed", by the controller's own judgement, or else the outcome
    that ended the episode. `reason` is the controller's; `turns` are what it did; `error` says why
    the game refused the last of them, if it did.
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
    """One step of the episode is one command; `step` is 0 when the budget is spent.

    `max_idle` sub-goals in a row that end without a command end the episode: no budget would.
    """

    def __init__(self, episode: Episode, *, max_retries: int, max_idle: int) -> None:
        self._episode = episode
        self._max_retries = max_retries
        self._max_idle = max_idle
        self._idle = 0
        self._ended: Counter[str] = Counter()
        self._steps = episode.steps()
        self.step = next(self._steps, 0)

    def carry_out(self, goals: Sequence[str]) -> tuple[Pursuit, ...]:
        """One sub-goal after the other, until the first that is not accomplished."""
        pursuits: list[Pursuit] = []
        for goal in goals:
            pursuits.append(self.pursue(goal))
            if pursuits[-1].ended != "accomplished":
                break
        return tuple(pursuits)

    def pursue(self, goal: str) -> Pursuit:
        """Ends as accomplished, failed, success, game_lost, step_limit or no_progress."""
        pursuit = self._pursue(goal)
        self._idle = 0 if pursuit.turns else self._idle + 1
        if self._idle >= self._max_idle and not pursuit.outcome:
            pursuit = dataclasses.replace(pursuit, ended="no_progress")
        self._ended[pursuit.ended] += 1
        self._episode.note(subgoals=dict(self._ended))
        return pursuit

    def _pursue(self, goal: str) -> Pursuit:
        dialogue = Dialogue(self._episode, self._max_retries)
        turns: tuple[Turn, ...] = ()
        error = ""
        while self.step:
            commands = self._episode.commands
            chosen = self._choose(dialogue, goal, turns, error)
            if chosen is None:
                reason = "The controller gave no usable answer."
                return Pursuit(goal, "failed", reason, turns, error)
            if not 0 < chosen.number <= len(commands):
                ended = "accomplished" if chosen.number else "failed"
                return Pursuit(goal, ended, chosen.reason, turns, error)
            done = self._episode.act(commands[chosen.number - 1])
            self._episode.remember(done.turns)
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
        episode = self._episode
        question = prompts.render(
            "deps/continue" if turns else "deps/controller",
            episode.environment.package,
            goal=goal,
            situation=Situation(episode.memory),
            memory=episode.memory,
            latest=episode.memory[-1:],
            error=error,
            commands=episode.commands,
        )
        return dialogue.ask(
            question.text,
            choice(len(episode.commands) + 1),
            step=self.step,
            commands=episode.commands,
            subgoal=goal,
        )


def most_pursuits(commands: int, max_idle: int) -> int:
    """Sub-goals that an episode of so many commands can have: each command may have one of its own,
    after others that end without any."""
    return commands * max_idle


def most_choices(commands: int, max_idle: int) -> int:
    """Usable answers of the controller: one for each command, and one at each sub-goal's end."""
    return commands + most_pursuits(commands, max_idle)
