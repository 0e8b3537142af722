"""The tables of outcomes and causes hold what the code can say, and nothing else."""

import typing

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import PlanOutcome
from pddlego_local.core.outcomes import (
    CAUSES,
    outcome_named,
    planning_cause,
)
from pddlego_local.decoding.forms import Fault


def test_every_verdict_of_the_planner_and_every_fault_of_an_answer_is_a_cause() -> None:
    said = {*typing.get_args(PlanOutcome), *typing.get_args(Fault)} - {""}
    assert set(CAUSES) == said | {"answered", "mechanical_steps"}


def test_a_name_that_is_not_listed_is_an_error_at_once() -> None:
    with pytest.raises(ConfigError, match=r"'was_bored'.*outcomes\.yaml"):
        outcome_named("was_bored")


def test_steps_that_follow_a_true_goal_are_something_to_do() -> None:
    assert not CAUSES[planning_cause("goal_already_true", ())].to_do
    assert CAUSES[planning_cause("goal_already_true", ("prepare meal",))].to_do
    assert planning_cause("solved", ("prepare meal",)) == "solved"
