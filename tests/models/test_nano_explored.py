"""The small model of partly seen worlds that ships: what it makes of games that it has
not seen.
"""

import pytest

from pddlego_local.core.nouns import Budget
from pddlego_local.environments.explored.game import Explored
from pddlego_local.planner import FastDownward
from tests.models.greedy import outcomes_of_edits

UNTIL = Budget(unit="actions", limit=50)


@pytest.mark.parametrize("renamed", [False, True])
def test_it_wins_some_houses_that_are_larger_than_in_its_training(
    renamed: bool, planner: FastDownward
) -> None:
    """It won 52 and 61 of a hundred such games."""
    settings = {"world": "coin", "sizes": (12, 16), "renamed": renamed}
    world = Explored.model_validate(settings | {"budget": UNTIL})
    outcomes = outcomes_of_edits("nano_explored", world, range(8), planner)
    assert outcomes.count("success") >= 2
