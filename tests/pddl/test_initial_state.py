"""Whether a goal is already true: our evaluator against the planner, and by hand."""

import random
from collections.abc import Iterator

import pytest

from pddlego_local.pddl.check import check
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.formulas import DEEPEST_CONDITION
from pddlego_local.pddl.initial_state import goal_already_true
from pddlego_local.pddl.reader import read
from pddlego_local.planner import FastDownward
from tests.pddl.test_solvability import random_task

DOMAIN = """(define (domain house)
  (:requirements :adl)
  (:types room way - object closet - room lamp candle - thing thing - object)
  (:constants Torch - lamp)
  (:predicates (at ?r - room) (next ?a ?b - room) (has ?t - thing) (done))
  (:action go :parameters (?r - room) :effect (and (at ?r) (done)))
  (:action drop :parameters (?t - thing) :effect (not (has ?t))))"""
PROBLEM = """(define (problem now)
  (:domain house)
  (:objects hall Cellar attic - room stub - candle)
  (:init (at hall) (next hall CELLAR) (next hall attic) (has torch) (has stub))
  (:goal {}))"""

TRUE = (
    "(at hall)",
    "(AT Hall)",
    "(and)",
    "(and (at hall) (has torch) (not (done)))",
    "(imply (at hall) (has torch))",
    "(= hall HALL)",
    "(not (= hall cellar))",
    "(exists (?l - lamp) (has ?l))",
    "(exists (?a ?b - room) (and (next ?a ?b) (not (at ?b))))",
    "(exists (?a - room) (forall (?b - room) (or (= ?a ?b) (next ?a ?b))))",
    "(forall (?t - thing) (has ?t))",
    "(forall (?w - way) (done))",
    "(forall (?r - room) (imply (at ?r) (exists (?r - room) (not (at ?r)))))",
    "(forall (?x) (imply (= ?x torch) (not (= ?x hall))))",
    "(not (exists (?r - room) (next ?r ?r)))",
    "(exists (?w - way) (and))",
    "(exists (?w - way) (imply (or) (done)))",
)
NOT_YET = (
    "(not (at hall))",
    "(or)",
    "(not (and))",
    "(exists (?w - way) (not (done)))",
    "(exists (?l - lamp) (not (has ?l)))",
    "(forall (?r - room) (at ?r))",
    "(forall (?a - room) (exists (?b - room) (next ?a ?b)))",
    "(forall (?r - room) (imply (not (= ?r hall)) (at ?r)))",
    "(not (forall (?t - thing) (has ?t)))",
    "(forall (?w - way) (or))",
    "(and (at hall) (forall (?w - way) (not (and))))",
)


def already_true(domain: str, problem: str) -> bool:
    assert check(domain, problem).accepted
    return goal_already_true(read_domain(read(domain)), read_problem(read(problem)))


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward() as planner:
        yield planner


def test_it_is_the_planners_verdict(planner: FastDownward) -> None:
    for goals, expected in ((TRUE, True), (NOT_YET, False)):
        for goal in goals:
            outcome = planner.plan(DOMAIN, PROBLEM.format(goal)).outcome
            assert outcome in ("goal_already_true", "solved", "unsolvable"), goal
            assert (outcome == "goal_already_true") is expected, goal
            assert already_true(DOMAIN, PROBLEM.format(goal)) is expected, goal


def test_random_conditions_are_judged_as_the_planner_does(planner: FastDownward) -> None:
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
