"""The actor of Reflexion and FCRF: a ReAct loop of thoughts and commands in one growing
dialogue.

It follows Yao et al., "ReAct", as Shinn et al., "Reflexion", run it on ALFWorld. The
first message shows the actor the reflections on earlier trials.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.nouns import Message, Messages
from pddlego_local.decoding.forms import MOVE, Move
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.shown import Shown
from pddlego_local.methods import prompting

Reflection = Mapping[str, str]
"""A mentor's texts on one trial: {"experience": "…", "plan": "…"}."""

ANSWER_TO_THOUGHT = "OK."


@dataclass(frozen=True)
class Trial:
    """One play of one game. `trace` is the text that a mentor reads, and `steps` is the
    number of the actor's answers, including unusable ones.
    """

    trace: str
    steps: int
    outcome: str


def play(
    episode: Episode, reflections: Sequence[Reflection], *, max_thoughts: int
) -> Trial:
    """Plays a game that was just started. The trial's outcome is

    - "success" or "game_lost", as the game reports
    - "repeated_action": the last move and its reply equal the move before and its
      reply, so the actor is stuck (Reflexion compares only moves, but "move north"
      twice can be a way)
    - "no_action": more than `max_thoughts` answers in a row were thoughts or unusable
    - "step_limit": the environment's budget is spent. A budget of actions counts
      commands; one of rounds counts thoughts too, as Reflexion's limit of 49 does
    - "context_exceeded": the dialogue, or the reflections in it, became too long for
      the context
    """
    actor = _Actor(episode, _opening(episode, reflections))
    idle = 0
    step = 0
    for step in episode.steps():
        try:
            move = actor.ask(step)
        except PromptTooLong:
            if len(actor.trace) == 1 and not reflections:
                raise  # the setting is at fault, not the model
            return actor.trial(step, "context_exceeded")
        outcome = actor.carry_out(move) if move else ""
        idle = 0 if move and move.kind == "act" else idle + 1
        if idle > max_thoughts and not outcome:
            outcome = "no_action"
        if outcome:
            return actor.trial(step, outcome)
    return actor.trial(step, "step_limit")


class _Actor:
    """The dialogue of one trial, which grows with each usable answer. `trace` is what a
    mentor reads of it.
    """

    def __init__(self, episode: Episode, opening: Shown) -> None:
        self.trace = [episode.memory[0].text]
        self._episode = episode
        self._opening = opening
        self._dialogue: Messages = (Message("user", opening.text),)
        self._complaint = ""
        self._latest: tuple[Move, str] | None = None  # the last move and its reply

    def ask(self, step: int) -> Move | None:
        """Asks for a move. None if the answer is unusable: it is explained once, and
        not kept in the dialogue.
        """
        turns = [*self._opening.turns, *self._episode.memory]
        shown = dataclasses.replace(self._opening, turns=turns)
        *before, last = self._dialogue
        asked = (*before, Message("user", last.content + self._complaint))
        question = self._episode.question(MOVE, shown, asked)
        answer = self._episode.ask(question, step=step)
        self._complaint = ""
        if answer.value is None:
            self._complaint = f"\n\n{MOVE.message(answer.fault)}"
        return answer.value

    def carry_out(self, move: Move) -> str:
        """Returns how the move ended the trial, "" if it goes on."""
        reply, outcome = _carry_out(self._episode, move)
        written = json.dumps(move.model_dump(), ensure_ascii=False)
        exchange = Message("assistant", written), Message("user", reply)
        self._dialogue = (*self._dialogue, *exchange)
        self.trace.append(_traced(move, reply))
        before = self._latest
        self._latest = move, reply
        if before == self._latest and not outcome:
            return "repeated_action"
        return outcome

    def trial(self, steps: int, outcome: str) -> Trial:
        return Trial("\n".join(self.trace), steps, outcome)


def _traced(move: Move, reply: str) -> str:
    if move.kind == "think":
        return f"Thought: {move.text}"
    return f"Action: {move.text}\n{reply}"


def _opening(episode: Episode, reflections: Sequence[Reflection]) -> Shown:
    """Renders the first message: the game, the reflections on it, and the first
    observation.
    """
    return prompting.render(
        "fcrf/actor",
        episode.environment.package,
        actions=episode.environment.actions,
        task_type=episode.environment.task_type,
        reflections=reflections,
        look=episode.memory[0].text,
    )


def _carry_out(episode: Episode, move: Move) -> tuple[str, str]:
    """Returns the game's reply in its own words, and how the game ended ("" if it goes
    on).
    """
    if move.kind == "think":
        return ANSWER_TO_THOUGHT, ""
    execution = episode.act(" ".join(move.text.split()))
    episode.remember(execution.turns)
    return execution.turns[-1].text, execution.ended
