"""Whether a goal is already true: our evaluator against the planner, and by hand."""

import random
from pathlib import Path
from typing import Any

import yaml

from pddlego_local.pddl.check import check
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.formulas import DEEPEST_CONDITION
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.state import goal_already_true
from pddlego_local.planner import FastDownward
from tests.pddl.random_tasks import random_task

CASES: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("initial_state.yaml").read_text(encoding="utf-8")
)
DOMAIN, PROBLEM = CASES["domain"], CASES["problem"]
TRUE, NOT_YET = CASES["already_true"], CASES["not_yet"]


def already_true(domain: str, problem: str) -> bool:
    assert check(domain, problem).accepted
    return goal_already_true(read_domain(read(domain)), read_problem(read(problem)))


def test_it_is_the_planners_verdict(planner: FastDownward) -> None:
    for goals, expected in ((TRUE, True), (NOT_YET, False)):
        for goal in goals:
            outcome = planner.plan(DOMAIN, PROBLEM.format(goal)).outcome
            assert outcome in ("goal_already_true", "solved", "unsolvable"), goal
            assert (outcome == "goal_already_true") is expected, goal
            assert already_true(DOMAIN, PROBLEM.format(goal)) is expected, goal


def test_random_conditions_are_judged_as_the_planner_does(
    planner: FastDownward,
) -> None:
    rng, verdicts = random.Random(7), []
    for number in range(100):
        domain, problem = random_task(rng, goal_depth=number % 2)
        expected = planner.plan(domain, problem).outcome == "goal_already_true"
        assert already_true(domain, problem) is expected, problem
        verdicts.append(expected)
    assert 20 < sum(verdicts) < 80


def test_the_deepest_condition_is_read() -> None:
    nested = (DEEPEST_CONDITION - 1) // 2
    goal = "(not (and " * nested + "(at hall)" + "))" * nested
    assert already_true(DOMAIN, PROBLEM.format(goal)) is (nested % 2 == 0)
