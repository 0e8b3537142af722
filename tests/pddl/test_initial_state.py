"""Whether a goal is already true: our evaluator against the planner, and by hand."""

import random
from collections.abc import Iterator

import pytest

from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.formulas import DEEPEST_CONDITION
from pddlego_local.pddl.initial_state import goal_already_true
from pddlego_local.pddl.reader import Block, read
from pddlego_local.planner import FastDownward

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


def already_true(goal: str) -> bool:
    domain, problem = read(DOMAIN, _fail), read(PROBLEM.format(goal), _fail)
    assert isinstance(domain, Block) and isinstance(problem, Block)
    return goal_already_true(read_domain(domain), read_problem(problem))


def _fail(offset: int, message: str) -> None:
    raise AssertionError(message)


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
            assert already_true(goal) is expected, goal


def random_condition(rng: random.Random, depth: int, variables: tuple[str, ...] = ()) -> str:
    """A condition of all operators; variables are rooms, as the atoms' arguments are."""
    kind = rng.choice(["and", "or", "not", "imply", "exists", "forall"]) if depth else "atom"
    below = [random_condition(rng, depth - 1, variables) for _ in range(2)] if depth else []
    if kind == "atom":
        rooms = [*variables, *variables, "hall", "cellar", "attic"]
        one, other = rng.choice(rooms), rng.choice(rooms)
        atoms = [f"(at {one})", f"(next {one} {other})", f"(= {one} {other})"]
        return rng.choice([*atoms, "(done)", "(and)", "(or)"])
    if kind in ("exists", "forall"):
        variable, empty = rng.choice(["?r", "?s"]), rng.random() < 0.2
        return (
            f"({kind} ({variable} - {'closet' if empty else 'room'}) "
            f"{random_condition(rng, depth - 1, (*variables, variable))})"
        )
    return f"({kind} {' '.join(below[: 1 if kind == 'not' else 2])})"


def test_random_conditions_are_judged_as_the_planner_does(planner: FastDownward) -> None:
    rng, verdicts = random.Random(7), []
    for number in range(100):
        goal = random_condition(rng, depth=1 + number % 4)
        expected = planner.plan(DOMAIN, PROBLEM.format(goal)).outcome == "goal_already_true"
        assert already_true(goal) is expected, goal
        verdicts.append(expected)
    assert 25 < sum(verdicts) < 75


def test_the_deepest_condition_is_read() -> None:
    nested = (DEEPEST_CONDITION - 1) // 2
    assert already_true("(not (and " * nested + "(at hall)" + "))" * nested) is (nested % 2 == 0)
