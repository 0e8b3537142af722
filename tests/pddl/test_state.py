"""The judge of states: by hand, against the planner, its translator, and
unified-planning.
"""

import itertools
import random

import pytest

from pddlego_local.commands.validate import why_invalid
from pddlego_local.pddl.check import check
from pddlego_local.pddl.state import Task, read_task
from pddlego_local.planner import FastDownward
from tests.pddl.random_tasks import random_task
from tests.tables import table
from tools.bench.grounding import grounding_of
from tools.bench.judge import altered, reaches
from tools.bench.unified import unified_task

CASES = table(__file__)
DOMAIN, PROBLEM = CASES["domain"], CASES["problem"]


def steps(plan: str) -> list[str]:
    return plan.split(" / ") if plan else []


@pytest.mark.parametrize(("goal", "plan", "cost"), CASES["accepted"])
def test_a_plan_that_reaches_the_goal_is_accepted(
    goal: str, plan: str, cost: int
) -> None:
    problem = PROBLEM.format(goal)
    assert why_invalid(DOMAIN, problem, steps(plan)) == ""
    assert why_invalid(DOMAIN, problem, [step.upper() for step in steps(plan)]) == ""
    task = read_task(DOMAIN, problem)
    state = task.initial
    for step in steps(plan):
        state = task.successor(state, tuple(step.split()))
    assert state.cost == cost


@pytest.mark.parametrize(("plan", "said"), CASES["refused"])
def test_an_impossible_action_is_refused_with_the_reason(plan: str, said: str) -> None:
    why = why_invalid(DOMAIN, PROBLEM.format("(calm)"), steps(plan))
    count = len(steps(plan))
    assert why.startswith(f"Action {count} of {count}: ") and said in why, why


@pytest.mark.parametrize(("goal", "plan"), CASES["not_reached"])
def test_a_plan_that_misses_the_goal_is_refused(goal: str, plan: str) -> None:
    why = why_invalid(DOMAIN, PROBLEM.format(goal), steps(plan))
    assert why == f"The goal does not hold after the {len(steps(plan))} actions."


def test_the_planners_plans_are_accepted(planner: FastDownward) -> None:
    for goal, _, _ in CASES["accepted"]:
        problem = PROBLEM.format(goal)
        result = planner.plan(DOMAIN, problem)
        true = why_invalid(DOMAIN, problem, []) == ""
        assert result.outcome == ("goal_already_true" if true else "solved"), (
            result.message
        )
        assert why_invalid(DOMAIN, problem, [step[1:-1] for step in result.plan]) == ""


def walked(task: Task, domain: str, problem: str, chance: random.Random) -> int:
    """Walks at random; the translator agrees in each state. Returns the number of
    states.
    """
    grounding, state = grounding_of(domain, problem, 5000), task.initial
    assert grounding is not None
    for number in range(8):
        possible = task.applicable(state)
        assert grounding.difference(task, state, possible) == ""
        if not possible:
            return number + 1
        state = task.successor(state, chance.choice(possible))
    return 8


def test_every_feature_is_as_the_translator_has_it() -> None:
    problem = PROBLEM.format("(or (calm) (exists (?c - crate) (on ?c gull)))")
    for seed in range(3):
        assert (
            walked(read_task(DOMAIN, problem), DOMAIN, problem, random.Random(seed))
            == 8
        )


def test_random_tasks_are_as_the_translator_and_unified_planning_have_them(
    planner: FastDownward,
) -> None:
    chance, states = random.Random(11), 0
    for number in range(5):
        domain, problem = random_task(chance, goal_depth=number % 2)
        assert check(domain, problem).accepted
        task, unified = read_task(domain, problem), unified_task(domain, problem)
        states += walked(task, domain, problem, chance)
        result = planner.plan(domain, problem)
        plan = [tuple(step.strip("()").split()) for step in result.plan]
        assert reaches(task, plan) == (
            result.outcome in ("solved", "goal_already_true")
        )
        assert not isinstance(unified, str), unified
        for changed in altered(plan, task, chance):
            assert reaches(task, changed) == unified.reaches(changed), (
                changed,
                domain,
                problem,
            )
    assert states > 10


@pytest.mark.parametrize("name", CASES["read"])
def test_what_the_planner_reads_is_read(name: str, planner: FastDownward) -> None:
    texts = [CASES["ferry"], CASES["trip"]]
    for old, new in CASES["read"][name]:
        texts = [text.replace(old, new, 1) for text in texts]
    assert texts != [CASES["ferry"], CASES["trip"]]
    result = planner.plan(*texts)
    assert result.outcome == "solved", result.message
    assert why_invalid(texts[0], texts[1], [step[1:-1] for step in result.plan]) == ""
    assert why_invalid(texts[0], texts[1], []) != ""


def test_two_actions_of_one_name_are_both_meant(planner: FastDownward) -> None:
    domain = """(define (domain twice) (:predicates (p) (q) (r))
     (:action go :parameters () :precondition (p) :effect (q))
     (:action go :parameters () :precondition (p) :effect (r)))"""
    problem = "(define (problem x) (:domain twice) (:init (p)) (:goal (and (q) (r))))"
    assert planner.plan(domain, problem).plan == ("(go)", "(go)")
    assert why_invalid(domain, problem, ["go", "go"]) == ""
    assert why_invalid(domain, problem, ["go"]) != ""


def test_a_type_without_object_above_it_does_not_belong_to_object(
    planner: FastDownward,
) -> None:
    domain = """(define (domain d) (:types port - place) (:predicates (at ?x) (seen ?x))
     (:action see :parameters (?x) :precondition (at ?x) :effect (seen ?x)))"""
    problem = """(define (problem x) (:domain d) (:objects a - port) (:init (at a))
     (:goal (seen a)))"""
    assert planner.plan(domain, problem).outcome == "unsolvable"
    assert "a is a port - place, not a object" in why_invalid(
        domain, problem, ["see a"]
    )


def test_names_that_do_not_exist_are_named() -> None:
    task = read_task(CASES["ferry"], CASES["trip"])
    for step, said in (
        (("fly", "gull"), "no action fly has 1 parameters"),
        (("sail", "gull"), "no action sail has 1 parameters"),
        (("sail", "gull", "east", "north"), "there is no north"),
    ):
        assert task.refusal(task.initial, step) == said
        assert not list(task.successors(task.initial, step))


def test_many_objects_are_no_burden() -> None:
    """Without pruning there would be a million million actions, and as many
    counterexamples.
    """
    names = [f"n{number}" for number in range(1000)]
    domain = """(define (domain d) (:requirements :adl) (:predicates (next ?a ?b)
  (at ?a))
     (:action go :parameters (?a ?b ?c ?d)
      :precondition (and (not (= ?a ?d)) (next ?c ?d) (at ?a) (next ?b ?c) (next ?a ?b)
       (forall (?x ?y ?z) (imply (and (next ?x ?y) (next ?y ?z)) (not (next ?x ?z)))))
      :effect (and (not (at ?a)) (at ?d))))"""
    facts = " ".join(f"(next {a} {b})" for a, b in itertools.pairwise(names))
    problem = f"""(define (problem x) (:domain d) (:objects {" ".join(names)})
     (:init (at n0) {facts}) (:goal (at n999)))"""
    task = read_task(domain, problem)
    state = task.initial
    for _ in range(5):
        (step,) = task.applicable(state)
        state = task.successor(state, step)
    assert ("at", "n15") in state.facts
