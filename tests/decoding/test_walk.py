"""An answer of the reference as a decoder writes it, stage by stage."""

from dataclasses import replace

import pytest

from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.rungs import GoalArm
from tools.bench.played import played
from tools.bench.walk import stages_of


@pytest.mark.parametrize(
    ("rung", "goal", "most"), [("typed", "any", 5), ("grounded", "unmet", 6)]
)
def test_an_answer_of_the_reference_takes_few_requests(
    rung: str, goal: GoalArm, most: int
) -> None:
    for one in played("coin", range(3), rung=rung):
        context = replace(one.question.context, goal=goal)
        constraint = constraint_for(rung, PDDL, context, "line")
        printed = Printer("line", schemas=context.actions, as_staged=True).answer(
            one.answer
        )
        stages = stages_of(constraint, printed)
        assert len(stages) <= most
        assert "".join(text for _, text in stages) == printed
