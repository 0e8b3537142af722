"""What several tests of environments play with."""

from collections.abc import Iterator

import pytest

from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.alfworld.games import TASK_TYPES
from pddlego_local.planner import FastDownward


@pytest.fixture(scope="module")
def quick_planner() -> Iterator[FastDownward]:
    """As the described worlds have it: any plan will do."""
    with FastDownward(search="lama_first") as planner:
        yield planner


@pytest.fixture
def household(heat: Alfworld) -> Iterator[Alfworld]:
    """ALFWorld with games of all kinds, in the process that plays `heat`. A test may
    select others.
    """
    of_heat = heat.task_types
    heat.task_types = TASK_TYPES
    yield heat
    heat.task_types = of_heat
