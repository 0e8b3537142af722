"""What several tests of environments play with."""

from collections.abc import Iterator

import pytest

from pddlego_local.planner import FastDownward


@pytest.fixture(scope="module")
def quick_planner() -> Iterator[FastDownward]:
    """As the described worlds have it: any plan will do."""
    with FastDownward(search="lama_first") as planner:
        yield planner
