"""The actor of Reflexion and FCRF: a ReAct loop, thoughts and commands in one growing dialogue.

Yao et al., "ReAct", as Shinn et al., "Reflexion", run it on ALFWorld. Knows what an actor is told
of earlier trials, and how a mentor is asked for a few sentences; not what either is told.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core.errors import PromptTooLong
from pddlego_local.core.nouns import Budget, Message, Messages
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.forms import MOVE, TEXT, Move
from pddlego_local.episode.episode import Episode
from pddlego_local.methods import prompts
from pddlego_local.methods.shared.dialogue import Dialogue

Reflection = Mapping[str, str]
"""What a mentor said of one trial: {"experience": "…", "plan": "…"}."""

ANSWER_TO_THOUGHT = "OK."


@dataclass(frozen=True)
class Seen:
    """A move and what came back: the observation's text, or "OK." to a thought."""

    move: Move
    text: str


@dataclass(frozen=True)
class Trial:
    """How one game was played once. `steps` counts the actor's answers, unusable ones too."""

    look: str
    seen: tuple[Seen, ...]
    steps: int
    outcome: str

    @property
    def trace(self) -> str:
        """The trial as a mentor reads it."""
        lines = (
            f"Thought: {seen.move.text}"
            if seen.move.kind == "think"
            else f"Action: {seen.move.text}\n{seen.text}"
            for seen in self.seen
        )
        return "\n".join([self.look, *lines])


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
    opening = prompts.render(
        "fcrf/actor",
        episode.environment.package,
        actions=episode.environment.actions,
        task_type=episode.environment.task_type,
        reflections=reflections,
        look=look,
    )
    seen: list[Seen] = []
    complaint, idle, step = "", 0, 0
    for step in episode.steps():
        shown = dataclasses.replace(opening, turns=[*opening.turns, *episode.memory])
        messages = dialogue(opening.text, seen, complaint)
        try:
            answer = episode.ask(episode.question(MOVE, shown, messages), step=step)
        except PromptTooLong:
            if not seen and not reflections:  # then it is the setting, not the model
                raise
            return Trial(look, tuple(seen), step, "context_exceeded")
        complaint = MOVE.message(answer.fault)
        ended = ""
        if answer.value:
            text, ended = _carry_out(episode, answer.value)
            seen.append(Seen(answer.value, text))
        idle = 0 if answer.value and answer.value.kind == "act" else idle + 1
        ended = ended or _stuck(seen, idle > max_thoughts, answered=bool(answer.value))
        if ended:
            return Trial(look, tuple(seen), step, ended)
    return Trial(look, tuple(seen), step, "step_limit")


def most_moves(budget: Budget, max_thoughts: int) -> int:
    """Answers that a trial can have: a budget of actions counts commands alone."""
    return budget.limit * (1 if budget.unit == "rounds" else 1 + max_thoughts)


def dialogue(opening: str, seen: Sequence[Seen], complaint: str = "") -> Messages:
    """The opening, then each move and what came back; roles alternate, as chat templates demand.

    `complaint` says why the answer before was of no use: that answer is in no dialogue.
    """
    messages = [Message("user", opening)]
    for step in seen:
        messages.append(
            Message("assistant", json.dumps(step.move.model_dump(), ensure_ascii=False))
        )
        messages.append(Message("user", step.text))
    if complaint:
        messages[-1] = Message("user", f"{messages[-1].content}\n\n{complaint}")
    return tuple(messages)


def _carry_out(episode: Episode, move: Move) -> tuple[str, str]:
    """What comes back, in the game's own words, and how the game has ended ("" if it goes on)."""
    if move.kind == "think":
        return ANSWER_TO_THOUGHT, ""
    execution = episode.act(" ".join(move.text.split()))
    episode.remember(execution.turns)
    return execution.turns[-1].text, execution.ended


def _stuck(seen: Sequence[Seen], idle: bool, *, answered: bool) -> str:
    if answered and len(seen) > 1 and seen[-1] == seen[-2]:
        return "repeated_action"
    return "no_action" if idle else ""


def trials_before(episode: Episode) -> list[EpisodeRow]:
    """The rows of this game's earlier trials, the latest last."""
    return [row for row in episode.earlier if row.game == episode.game]


def last_reflections(rows: Sequence[EpisodeRow], keep: int) -> list[Reflection]:
    """The last `keep` reflections, the latest last; trials without one are passed over."""
    reflections = [row.notes["reflection"] for row in rows if row.notes.get("reflection")]
    return reflections[-keep:] if keep else []


def say(episode: Episode, part: str, step: int, *, max_retries: int, **facts: object) -> str:
    """A few sentences to the question `fcrf/<part>.jinja`; "" if there is no usable answer.

    The game is over by then: nothing that goes wrong here changes how it ended, so a question that
    has outgrown the context is noted, not raised.
    """
    question = prompts.render(f"fcrf/{part}", episode.environment.package, **facts).text
    try:
        answer = Dialogue(episode, max_retries).ask(question, TEXT, step=step)
    except PromptTooLong:
        episode.note(**{f"{part}_fault": "context_exceeded"})
        return ""
    return answer.text.strip() if answer else ""
