"""The small model of three games that ships: what it makes of games that it has not
seen.
"""

import pytest

from pddlego_local.core.nouns import Budget
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.planner import FastDownward
from tests.models.greedy import outcomes_of_edits

EASY = Cooking(rooms=2, ingredients=2, budget=Budget(unit="actions", limit=20))


@pytest.mark.parametrize(
    "environment",
    [Alfworld(split="valid_unseen"), EASY, Coin()],
    ids=lambda one: one.name,
)
def test_it_wins_games_that_it_has_not_seen(
    environment: Alfworld | Cooking | Coin, planner: FastDownward
) -> None:
    """Two of three."""
    outcomes = outcomes_of_edits("nano_edit", environment, range(3), planner)
    assert outcomes.count("success") >= 2
