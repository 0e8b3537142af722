"""Edits in whole games: the reference's can be drawn, and random ones leave nothing to
refuse. About 25 seconds.
"""

import contextlib
import json
from collections import Counter
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
from pddlego_local.episode.drawing import draw
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.pddl.edit import objects_of
from pddlego_local.pddl.repair import Knowledge, repair
from pddlego_local.pddl.sections import with_goal
from pddlego_local.planner import FastDownward
from tests.decoding.test_edits import changed, staged
from tests.episode.drawing import RandomLogits
from tests.methods.playing import play
from tests.questions import QUESTION


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


@pytest.mark.parametrize("rung", ["typed", "grounded"])
def test_random_edits_leave_nothing_to_refuse(
    games: list[Asked], planner: FastDownward, rung: str
) -> None:
    """The checker and the planner's translator take every problem that they make."""
    lists: Counter[tuple[str, str]] = Counter()
    for seed in range(40):
        asked = games[seed * 7 % len(games)]
        sampling = Sampling(max_tokens=8192, seed=seed)
        drawn = draw(
            RandomLogits(seed % 5), QUESTION, staged(rung, asked.context), sampling, {}
        )[0]
        assert drawn.completion.finish_reason == "stop"
        written = json.loads(drawn.completion.text)
        problem = with_goal(changed(written, asked.context), asked.goal)
        assert planner.plan(asked.context.domain, problem).outcome != "translate_error"
        shown = [*asked.context.names.objects, *objects_of(asked.context.problem)]
        names = shown if rung == "grounded" else None
        knows = Knowledge(declared=True, given=True, names=names)
        assert repair(asked.context.domain, problem, knows).changes == ()
        if rung == "grounded":
            new = objects_of(problem).keys() - objects_of(asked.context.problem).keys()
            assert new <= set(asked.context.names.objects)
        lists.update(
            (part, key)
            for part in written
            for key in written[part]
            if written[part][key]
        )
    assert (
        len(lists) == 6 and min(lists.values()) > 5
    )  # none of the six lists stays empty
