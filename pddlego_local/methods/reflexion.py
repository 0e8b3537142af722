"""Reflexion (Shinn et al., "Reflexion: Language Agents with Verbal Reinforcement Learning"): after
each failed trial the model reflects, and the next trials are told. FCRF's baseline.
"""

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.forms import MOVE, TEXT
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, settings
from pddlego_local.methods.shared import react


@settings
class Reflexion:
    """Settings of the method; calling it plays one trial of one game. `reflections` is how many of
    the last ones an actor is told. `max_thoughts` bounds the answers in a row without a command,
    `max_retries` how often a reflection is asked for again."""

    reflections: AtLeast0 = 3
    max_thoughts: AtLeast0 = 5
    max_retries: AtLeast0 = 2

    prompts = "fcrf"
    forms = (MOVE, TEXT)
    learns = True

    def most_calls(self, budget: Budget, best_of: int) -> int:
        """A trial's moves and one reflection."""
        return react.most_moves(budget, self.max_thoughts) + 1 + self.max_retries

    def __call__(self, episode: Episode) -> str:
        """Returns solved_before, success_at_start, or an outcome of `react.play`."""
        before = react.trials_before(episode)
        if any(row.success for row in before):
            return "solved_before"
        if episode.start().success:
            return "success_at_start"
        reflections = react.last_reflections(before, self.reflections)
        trial = react.play(episode, reflections, max_thoughts=self.max_thoughts)
        if trial.outcome != "success":
            reflection = react.say(
                episode,
                "reflection",
                trial,
                max_retries=self.max_retries,
                reflections=reflections,
            )
            if reflection:
                episode.note(reflection={"plan": reflection})
        return trial.outcome
