"""What several tests of environments play with."""

from collections.abc import Iterator

import pytest

from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.planner import FastDownward


@pytest.fixture(scope="module")
def quick_planner() -> Iterator[FastDownward]:
    """As the described worlds have it: any plan will do."""
    with FastDownward(search="lama_first") as planner:
        yield planner


@pytest.fixture(scope="module")
def heat() -> Iterator[Alfworld]:
    game = Alfworld(task_types=("pick_heat_then_place_in_recep",))
    yield game
    game.close()
