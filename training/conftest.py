"""The fixtures of the tests of training."""

import pytest
from pddlego_training.__main__ import carry_out

from tests.conftest import planner, pytest_runtest_setup
from tests.pddlego import Pddlego

__all__ = ["planner", "pytest_runtest_setup"]


@pytest.fixture
def pddlego_train(capsys: pytest.CaptureFixture[str]) -> Pddlego:
    """`pddlego-train` in this process, and what it prints."""
    return Pddlego(capsys, carry_out)
