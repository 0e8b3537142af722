from collections.abc import Iterator

import pytest

from pddlego_local.planner import FastDownward, Limits


@pytest.fixture(scope="session")
def planner() -> Iterator[FastDownward]:
    with FastDownward(limits=Limits(wall_s=20, cpu_s=20, memory_mb=512)) as shared:
        yield shared
