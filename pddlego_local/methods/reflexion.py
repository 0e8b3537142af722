"""Reflexion (Shinn et al., "Reflexion: Language Agents with Verbal Reinforcement Learning"): after
each failed trial the model reflects, and the next trials are told. FCRF's baseline.
"""

from collections.abc import Sequence
from typing import ClassVar

from pddlego_local.core.nouns import Budget
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.forms import MOVE, TEXT
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, Player, settings
from pddlego_local.methods.shared import react
from pddlego_local.methods.shared.react import Trial


@settings
class Reflexion(Player):
    """Settings of the method; calling it plays one trial of one game. `reflections` is how many of
    the last ones an actor is told. `max_thoughts` bounds the answers in a row without a command,
    `max_retries` how often a reflection is asked for again."""

    reflections: AtLeast0 = 3
    max_thoughts: AtLeast0 = 5
    max_retries: AtLeast0 = 2

    prompts = "fcrf"
    forms = (MOVE, TEXT)
    learns: ClassVar[bool | str] = True

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """A trial's moves and one reflection."""
        return react.most_moves(budget, self.max_thoughts) + 1 + self.max_retries

    def __call__(self, episode: Episode) -> str:
        """Returns solved_before, success_at_start, or an outcome of `react.play`."""
        solved = any(row.success for row in react.trials_before(episode))
        return "solved_before" if solved else super().__call__(episode)

    def play(self, episode: Episode) -> str:
        before = react.trials_before(episode)
        reflections = react.last_reflections(before, self.reflections)
        trial = react.play(episode, reflections, max_thoughts=self.max_thoughts)
        self.learn(episode, before, trial)
        return trial.outcome

    def learn(self, episode: Episode, before: Sequence[EpisodeRow], trial: Trial) -> None:
        """Notes what later trials are told of this one, which came after those `before` it."""
        if trial.outcome == "success":
            return
        told = react.last_reflections(before, self.reflections)
        if plan := self.say(episode, "reflection", trial, reflections=told):
            episode.note(reflection={"plan": plan})

    def say(self, episode: Episode, part: str, trial: Trial, **facts: object) -> str:
        """As `react.say`."""
        return react.say(episode, part, trial, max_retries=self.max_retries, **facts)
