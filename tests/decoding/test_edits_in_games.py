"""Edits in whole games: the reference's can be drawn, and random ones leave nothing to
refuse. About 25 seconds.
"""

import contextlib
from dataclasses import replace
from typing import NamedTuple

import pytest

from pddlego_local.core.nouns import Budget, Goal, Sampling
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


class Asked(NamedTuple):
    """Where an edit was asked for, the reference's, and the goals then."""

    context: GrammarContext
    text: str
    goals: tuple[Goal, ...]

    @property
    def goal(self) -> str:
        """The last of them: all but the last may name what no observation has named
        yet.
        """
        return self.goals[-1].pddl


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
                asked.append(
                    Asked(context, drawn.completion.text, environment.goals(memory))
                )
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
    for asked in games:
        assert place_of_departure(staged(rung, asked.context), asked.text) == ""
