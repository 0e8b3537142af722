"""A won game asks nothing. tests/test_systems.py has what perfect answers win by each
method.
"""

import pytest

from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.coin.game import Coin
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.playing import built, play

ONE_ANSWER_A_STEP = (
    *("pddl_gen", "pddl_edit", "pddlego_plus", "pddlego"),
    *("action_gen", "plangen", "reflexion", "fcrf"),
)
IN_WORDS = ("deps", "zero_shot_planner", "zero_shot_replan", "inner_monologue")


@pytest.mark.parametrize("method", [*ONE_ANSWER_A_STEP, *IN_WORDS])
def test_a_game_beside_the_coin_asks_nothing(
    planner: FastDownward, method: str
) -> None:
    outcome, events = play(built(method), Coin(), Scripted([]), planner, game=3)
    row = summarize(events)
    assert (outcome, row.calls, row.actions) == ("success_at_start", 0, 0)
