"""FCRF, the Flexible Constructivism Reflection Framework: Reflexion's actor, and a
mentor whose depth of reflection depends on the difficulty of the task.

This file follows the paper where the released code is incomplete (the switch between
simple and deep, the experience, and the growth of the lesson pool).
"""

import re

from pddlego_local.core.errors import ConfigError
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import FROM_ALL_GAMES, AtLeast0, settings
from pddlego_local.methods.reflexion import Reflexion, trials_before
from pddlego_local.methods.shared.react import Trial


@settings
class Difficulty:
    """The number of objects and operations in tasks whose type matches the pattern
    `tasks`.
    """

    tasks: re.Pattern[str]
    objects: AtLeast0
    operations: AtLeast0

    @property
    def simple_trials(self) -> int:
        """The paper's k1 = max(1, int((1 - (objects + operations) / 5) * 5)), in whole
        numbers.
        """
        return max(1, 5 - self.objects - self.operations)


@settings
class Fcrf(Reflexion):
    """Settings of FCRF. The first entry of `difficulty` that matches a task's type is
    used. The other settings are those of Reflexion.
    """

    difficulty: tuple[Difficulty, ...]

    learns = FROM_ALL_GAMES  # through the pool of lessons

    def play(self, episode: Episode) -> str:
        self._difficulty_of(episode)  # raises before the first request
        return super().play(episode)

    def learn(self, episode: Episode, trial: Trial) -> None:
        """Notes what later trials are shown of this one.

        If the game was solved after a failure, the mentor's lesson on the difference
        joins the pool. If it was not solved, the mentor reflects: simply at first, and
        deeply if `simple_trials` trials have not solved it.
        """
        before = trials_before(episode)
        if trial.outcome != "success":
            simple_trials = self._difficulty_of(episode).simple_trials
            self._reflect(episode, trial, deeply=len(before) >= simple_trials)
            return
        failed = [row.notes["trace"] for row in before if row.notes.get("trace")]
        if failed:
            lesson = self.say(episode, "difference", trial, failed=failed[-1])
            if lesson:
                episode.note(lesson=lesson)

    def pool(self, episode: Episode) -> list[str]:
        """Returns the lessons for tasks of this type, without duplicates, in the order
        of trials and then of games. The pool is derived from the rows of earlier trials
        alone.
        """
        pool: list[str] = []
        for row in sorted(episode.earlier, key=lambda row: (row.trial, row.game)):
            lesson = row.notes.get("lesson")
            is_same_type = row.task_type == episode.environment.task_type
            if lesson and is_same_type and lesson not in pool:
                pool.append(lesson)
        return pool

    def _reflect(self, episode: Episode, trial: Trial, *, deeply: bool) -> None:
        """Notes the trace, from which lessons are made, and the reflection for later
        trials: the experience (which actions were valuable) and, if `deeply`, a lesson,
        which is new or from the pool, and a plan from both.
        """
        parts = {"experience": self.say(episode, "experience", trial)}
        if deeply:
            pool = self.pool(episode)
            parts["lesson"] = self.say(episode, "lesson", trial, pool=pool)
            parts["plan"] = self.say(episode, "plan", trial, **parts)
        said = {part: text for part, text in parts.items() if text}
        episode.note(trace=trial.trace, reflection=said)

    def _difficulty_of(self, episode: Episode) -> Difficulty:
        task_type = episode.environment.task_type
        for entry in self.difficulty:
            if entry.tasks.fullmatch(task_type):
                return entry
        raise ConfigError(
            f"method.difficulty: no entry matches the task type {task_type!r} of "
            f"{episode.environment.name}; add one with tasks, objects and operations"
        )
