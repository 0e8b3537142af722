"""Reflexion (Shinn et al., "Reflexion: Language Agents with Verbal Reinforcement
Learning"): after each failed trial the model reflects, and later trials are shown the
reflection. FCRF's baseline.
"""

from typing import ClassVar

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.forms import MOVE, TEXT
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import AtLeast0, Player, prompting, settings
from pddlego_local.methods.shared import react
from pddlego_local.methods.shared.dialogue import Dialogue
from pddlego_local.methods.shared.react import Reflection, Trial


@settings
class Reflexion(Player):
    """Settings of the method; calling it plays one trial of one game.

    `reflections` is how many of the latest reflections an actor is shown.
    `max_thoughts` limits the answers in a row without a command, and `max_retries`
    limits how often a reflection is asked for again.
    """

    reflections: AtLeast0 = 3
    max_thoughts: AtLeast0 = 5
    max_retries: AtLeast0 = 2

    prompts = "fcrf"
    forms = (MOVE, TEXT)
    learns: ClassVar[bool | str] = True

    def __call__(self, episode: Episode) -> str:
        """Returns solved_before, success_at_start, or an outcome of `react.play`."""
        solved = any(row.success for row in trials_before(episode))
        return "solved_before" if solved else super().__call__(episode)

    def play(self, episode: Episode) -> str:
        reflections = self.latest(episode)
        trial = react.play(episode, reflections, max_thoughts=self.max_thoughts)
        self.learn(episode, trial)
        return trial.outcome

    def latest(self, episode: Episode) -> list[Reflection]:
        """Returns the last `reflections` reflections on this game, oldest first."""
        notes = [row.notes.get("reflection") for row in trials_before(episode)]
        reflections = [note for note in notes if note]
        return reflections[-self.reflections :] if self.reflections else []

    def learn(self, episode: Episode, trial: Trial) -> None:
        """Notes the reflection on a failed trial, which later trials are shown."""
        if trial.outcome == "success":
            return
        shown = self.latest(episode)
        plan = self.say(episode, "reflection", trial, reflections=shown)
        if plan:
            episode.note(reflection={"plan": plan})

    def say(self, episode: Episode, part: str, trial: Trial, **facts: object) -> str:
        """Returns the answer to the prompt `fcrf/<part>.jinja`, or "" if it is
        unusable.

        The game is over by then, and no error here may change its outcome. If the
        question is too long for the context, this is noted and not raised.
        """
        package = episode.environment.package
        shown = prompting.render(f"fcrf/{part}", package, trial=trial, **facts)
        dialogue = Dialogue(episode, self.max_retries)
        try:
            answer = dialogue.ask(shown.text, TEXT, step=trial.steps)
        except PromptTooLong:
            episode.note(**{f"{part}_fault": "context_exceeded"})
            return ""
        return answer.text.strip() if answer else ""


def trials_before(episode: Episode) -> list[EpisodeRow]:
    """Returns the rows of this game's earlier trials, oldest first."""
    return [row for row in episode.earlier if row.game == episode.game]
