from collections.abc import Iterator

import pytest

from pddlego_local.planner import FastDownward


@pytest.fixture(scope="session")
def planner() -> Iterator[FastDownward]:
    with FastDownward() as planner:
        yield planner
