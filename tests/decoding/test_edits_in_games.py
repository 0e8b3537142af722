"""Edits in whole games: what the reference writes can be drawn. About 20 seconds."""

import contextlib
from dataclasses import replace

import pytest

from pddlego_local.core.nouns import Budget, Sampling
from pddlego_local.core.protocols import Environment
from pddlego_local.decoding.forms import EDIT
from pddlego_local.decoding.question import AnyQuestion, Drawn, GrammarContext
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.planner import FastDownward
from tests.decoding.test_edits import staged
from tests.methods.playing import play

Asked = tuple[GrammarContext, str]
"""Where an edit was asked for, and the reference's."""


def overheard(
    environment: Environment, games: int, planner: FastDownward
) -> list[Asked]:
    """The reference plays, and every edit that it is asked for is kept."""
    asked = []

    class Overheard(ReferenceFormalizer):
        def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
            drawn = super().answer(question, sampling)
            if question.form is EDIT:
                memory = question.context.memory
                context = replace(question.context, names=environment.names(memory))
                asked.append((context, drawn.completion.text))
            return drawn

    with contextlib.closing(environment):
        for game in range(games):
            outcome, _ = play(PddlEdit(), environment, Overheard(), planner, game=game)
            assert outcome in ("success", "success_at_start")
    return asked


@pytest.fixture(scope="module")
def games(planner: FastDownward) -> list[Asked]:
    """All that is asked in ten games."""
    hard = Cooking(rooms=5, ingredients=5, budget=Budget(unit="actions", limit=50))
    played = ((Coin(), 5), (Cooking(), 2), (hard, 1), (Alfworld(), 2))
    return [
        asked
        for environment, count in played
        for asked in overheard(environment, count, planner)
    ]


@pytest.mark.parametrize("rung", ["typed", "grounded"])
def test_the_references_edits_can_be_drawn(games: list[Asked], rung: str) -> None:
    assert len(games) >= 40
    for context, text in games:
        assert place_of_departure(staged(rung, context), text) == ""
