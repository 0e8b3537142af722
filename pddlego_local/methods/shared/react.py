"""The actor of Reflexion and FCRF: a ReAct loop, thoughts and commands in one growing dialogue.

Yao et al., "ReAct", as Shinn et al., "Reflexion", run it on ALFWorld. Knows what an actor is told
of earlier trials.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.nouns import Budget, Message, Messages
from pddlego_local.decoding.forms import MOVE, Move
from pddlego_local.episode.episode import Episode
from pddlego_local.episode.shown import Shown
from pddlego_local.methods import prompting

Reflection = Mapping[str, str]
"""What a mentor said of one trial: {"experience": "…", "plan": "…"}."""

ANSWER_TO_THOUGHT = "OK."


@dataclass(frozen=True)
class Trial:
    """How one game was played once: what a mentor reads of it, the number of the actor's answers,
    unusable ones too, and the outcome."""

    trace: str
    steps: int
    outcome: str


def play(episode: Episode, reflections: Sequence[Reflection], *, max_thoughts: int) -> Trial:
    """Plays a game that was just started. The trial's outcome is

    - "success" or "game_lost": the game said so
    - "repeated_action": the last move and what came back are those of the move before, the sign
      of an actor that is stuck (Reflexion compares moves alone, but "move north" twice is a way)
    - "no_action": more than `max_thoughts` answers in a row were thoughts or unusable
    - "step_limit": the environment's budget is spent. A budget of actions counts commands; one of
      rounds counts thoughts too, as Reflexion's limit of 49 does
    - "context_exceeded": the dialogue, or what it is told of earlier trials, outgrew the context
    """
    look = episode.memory[0].text
    opening = _opening(episode, reflections)
    dialogue: Messages = (Message("user", opening.text),)
    trace, latest = [look], ("", "", "")
    complaint, idle, step = "", 0, 0
    for step in episode.steps():
        shown = dataclasses.replace(opening, turns=[*opening.turns, *episode.memory])
        asked = (*dialogue[:-1], Message("user", dialogue[-1].content + complaint))
        try:
            answer = episode.ask(episode.question(MOVE, shown, asked), step=step)
        except PromptTooLong:
            if len(trace) == 1 and not reflections:  # then it is the setting, not the model
                raise
            outcome = "context_exceeded"
            break
        move, outcome = answer.value, ""
        # why an answer was of no use is told once: that answer is in no dialogue
        complaint = "" if move else f"\n\n{MOVE.message(answer.fault)}"
        if move:
            reply, outcome = _carry_out(episode, move)
            written = json.dumps(move.model_dump(), ensure_ascii=False)
            dialogue = (*dialogue, Message("assistant", written), Message("user", reply))
            thought = move.kind == "think"
            trace.append(f"Thought: {move.text}" if thought else f"Action: {move.text}\n{reply}")
            before, latest = latest, (move.kind, move.text, reply)
            if not outcome and latest == before:
                outcome = "repeated_action"
        idle = 0 if move and move.kind == "act" else idle + 1
        if not outcome and idle > max_thoughts:
            outcome = "no_action"
        if outcome:
            break
    else:
        outcome = "step_limit"
    return Trial("\n".join(trace), step, outcome)


def _opening(episode: Episode, reflections: Sequence[Reflection]) -> Shown:
    """The first message: the game, what was learnt of it, and its first look."""
    return prompting.render(
        "fcrf/actor",
        episode.environment.package,
        actions=episode.environment.actions,
        task_type=episode.environment.task_type,
        reflections=reflections,
        look=episode.memory[0].text,
    )


def most_moves(budget: Budget, max_thoughts: int) -> int:
    """Answers that a trial can have: a budget of actions counts commands alone."""
    return budget.limit * (1 if budget.unit == "rounds" else 1 + max_thoughts)


def _carry_out(episode: Episode, move: Move) -> tuple[str, str]:
    """What comes back, in the game's own words, and how the game has ended ("" if it goes on)."""
    if move.kind == "think":
        return ANSWER_TO_THOUGHT, ""
    execution = episode.act(" ".join(move.text.split()))
    episode.remember(execution.turns)
    return execution.turns[-1].text, execution.ended
