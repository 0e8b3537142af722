"""Whether a goal is already true: our evaluator against the planner, and by hand."""

import pytest

from pddlego_local.pddl.check import check
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.formulas import DEEPEST_CONDITION
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.state import goal_already_true
from pddlego_local.planner import FastDownward
from tests.tables import table

CASES = table(__file__)
DOMAIN, PROBLEM = CASES["domain"], CASES["problem"]
TRUE, NOT_YET = CASES["already_true"], CASES["not_yet"]


def already_true(domain: str, problem: str) -> bool:
    assert check(domain, problem).accepted
    return goal_already_true(read_domain(read(domain)), read_problem(read(problem)))


@pytest.mark.parametrize("goal", TRUE + NOT_YET)
def test_it_is_the_planners_verdict(goal: str, planner: FastDownward) -> None:
    problem = PROBLEM.format(goal)
    outcome = planner.plan(DOMAIN, problem).outcome
    assert outcome in ("goal_already_true", "solved", "unsolvable")
    is_true = outcome == "goal_already_true"
    assert is_true is (goal in TRUE)
    assert already_true(DOMAIN, problem) is is_true


def test_the_deepest_condition_is_read() -> None:
    nested = (DEEPEST_CONDITION - 1) // 2
    goal = "(not (and " * nested + "(at hall)" + "))" * nested
    assert already_true(DOMAIN, PROBLEM.format(goal)) is (nested % 2 == 0)
