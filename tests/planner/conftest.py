from collections.abc import Iterator

import pytest

from pddlego_local.planner import FastDownward, Limits


@pytest.fixture(scope="session")
def planner() -> Iterator[FastDownward]:
    with FastDownward(limits=Limits(wall_s=600, cpu_s=600, memory_mb=512)) as shared:
        yield shared
