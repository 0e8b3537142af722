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
    opening = _opening(episode, reflections)
    dialogue: Messages = (Message("user", opening.text),)
    trace = [episode.memory[0].text]
    latest: tuple[Move, str] | None = None  # the last move and its reply
    complaint, idle, step = "", 0, 0
    for step in episode.steps():
        shown = dataclasses.replace(opening, turns=[*opening.turns, *episode.memory])
        asked = (*dialogue[:-1], Message("user", dialogue[-1].content + complaint))
        question = episode.question(MOVE, shown, asked)
        try:
            answer = episode.ask(question, step=step)
        except PromptTooLong:
            if len(trace) == 1 and not reflections:
                raise  # the setting is at fault, not the model
            return Trial("\n".join(trace), step, "context_exceeded")
        move, outcome = answer.value, ""
        idle = 0 if move and move.kind == "act" else idle + 1
        if move is None:
            # A rejected answer is explained once, and not kept in the dialogue.
            complaint = f"\n\n{MOVE.message(answer.fault)}"
        else:
            complaint = ""
            reply, outcome = _carry_out(episode, move)
            written = json.dumps(move.model_dump(), ensure_ascii=False)
            exchange = Message("assistant", written), Message("user", reply)
            dialogue = (*dialogue, *exchange)
            trace.append(_traced(move, reply))
            is_repeated = (move, reply) == latest
            latest = move, reply
            if is_repeated and not outcome:
                outcome = "repeated_action"
        if idle > max_thoughts and not outcome:
            outcome = "no_action"
        if outcome:
            return Trial("\n".join(trace), step, outcome)
    return Trial("\n".join(trace), step, "step_limit")


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
