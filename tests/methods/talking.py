"""Whole episodes of methods that plan in words, with answers given in advance."""

import json
import re
from collections.abc import Sequence
from typing import Any

from pddlego_local.core.nouns import Budget, Completion, Sampling
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.events import Note
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.environments.coin.game import Coin
from pddlego_local.methods import Method
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods import playing
from tests.methods.playing import Events, of

# 11 rooms: the living room is east of the kitchen, behind its eastern door is the coin
GAME = 5
TO_THE_COIN = ["> move east", "> open door to east", "> move east"]
BEGIN_AGAIN = json.dumps({"text": "Something was wrong."})


class Player(Scripted):
    """The answers "> move east", "done" and "fail: no way" are given as a controller
    gives them: with the numbers that the question itself shows.
    """

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        drawn = super().answer(question, sampling)
        completion = drawn.completion
        text = completion.text
        shown = question.messages[-1].content
        if text.startswith("> "):
            (number,) = re.findall(
                rf"^(\d+)\. {re.escape(text[2:])}$", shown, re.MULTILINE
            )[-1:]
        elif text == "done":
            number = re.findall(r"(\d+): the goal is accomplished", shown)[-1]
        elif text.startswith("fail: "):
            number = 0
        else:
            return drawn
        reason = text.removeprefix("fail: ")
        answer = json.dumps({"reason": reason, "number": int(number)})
        return Drawn(Completion(answer, "stop", 0, 0, 0.0))


def plan(*goals: str) -> str:
    return json.dumps({"goals": goals})


def rounds(limit: int) -> Coin:
    return Coin(budget=Budget(unit="rounds", limit=limit))


def play(
    method: Method,
    answers: Sequence[str | Completion],
    environment: Environment | None = None,
    game: int = GAME,
) -> tuple[str, Player, Events]:
    """The outcome, the model with what it was asked, and what was recorded."""
    model = Player(answers)
    with FastDownward() as planner:
        outcome, events = playing.play(
            method, environment or Coin(), model, planner, game=game
        )
    return outcome, model, events


def asked(model: Scripted, what: str) -> list[str]:
    """The last messages of all that the model was asked of this kind, in order."""
    return [
        question.messages[-1].content
        for question in model.asked
        if question.form.name == what
    ]


def noted(events: Events, name: str) -> Any:
    """The last that was noted under a name."""
    return [note.facts[name] for note in of(events, Note) if name in note.facts][-1]
