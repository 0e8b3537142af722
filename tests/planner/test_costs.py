"""Action costs that the search cannot read: an outcome of the pair."""

import pytest

from pddlego_local.pddl.check import check, explain
from pddlego_local.planner import FastDownward

EFFECT = "(and (open) (increase (total-cost) {}))"
BY_WEIGHT = EFFECT.format("(weight ?x)")
LARGEST = 2**31 - 2
METRIC = "(:metric minimize (total-cost))"


def pair(
    effect: str, init: str = "", metric: str = METRIC, more: str = ""
) -> tuple[str, str]:
    domain = f"""(define (domain tiny)
  (:requirements :action-costs :conditional-effects)
  (:predicates (open) (shut)) (:functions (total-cost) - number (weight ?x) - number)
  (:action force :parameters (?x) :precondition () :effect {effect}){more})"""
    problem = f"""(define (problem one) (:domain tiny) (:objects a b)
  (:init (= (total-cost) 0) {init}) (:goal (open)) {metric})"""
    return domain, problem


REFUSED = {
    "in an action": pair(EFFECT.format(99999999999)),
    "just beyond": pair(EFFECT.format(2**31)),
    "with leading zeros": pair(EFFECT.format(f"000{2**31}")),
    "of thousands of digits": pair(EFFECT.format("9" * 4000)),
    "beside a condition": pair(
        f"(and (when (shut) (open)) (increase (total-cost) {2**40}))", "(shut)"
    ),
    "the value of a function": pair(
        BY_WEIGHT, f"(= (weight a) {2**32}) (= (weight b) 1)"
    ),
    "an action with a long name": pair(
        EFFECT.format(1), more=f" (:action {'a' * 9000} :effect {EFFECT.format(2**40)})"
    ),
}


@pytest.mark.parametrize("files", REFUSED.values(), ids=REFUSED.keys())
def test_a_cost_that_no_search_can_read_is_a_translate_error(
    planner: FastDownward, files: tuple[str, str]
) -> None:
    result = planner.plan(*files)
    assert (result.outcome, result.plan) == ("translate_error", ())
    assert "Could not parse" in result.message or len(result.message) == 1500
    assert check(*files).accepted and explain(*files, result)


TAKEN = {
    "the largest": pair(EFFECT.format(LARGEST)),
    "of an action that is never used": pair(
        EFFECT.format(1),
        more=f" (:action z :precondition (shut) :effect {EFFECT.format(2**40)})",
    ),
    "without a metric": pair(EFFECT.format(2**40), metric=""),
    "of a function that is no cost": pair(EFFECT.format(1), f"(= (weight a) {2**40})"),
    "the total": pair(EFFECT.format(1)),
    "none": pair("(open)"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_other_large_numbers_do_no_harm(name: str, planner: FastDownward) -> None:
    assert planner.plan(*TAKEN[name]).outcome == "solved"
    assert check(*TAKEN[name]).accepted


def test_the_last_cost_of_an_action_is_its_cost(planner: FastDownward) -> None:
    effect = (
        "(and (open) (increase (total-cost) (weight ?x)) (increase (total-cost) 3))"
    )
    files = pair(effect, "(= (weight) 1)")
    result = planner.plan(*files)
    assert (result.outcome, result.cost) == ("solved", 3)
    assert check(*files).accepted


COSTS = ["-1", "1.5", "1.0", "(* 2 (weight ?x))", "9" * 5000]


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost[:9])
def test_costs_that_are_no_whole_numbers_are_refused_by_both(
    cost: str, planner: FastDownward
) -> None:
    files = pair(EFFECT.format(cost))
    assert planner.plan(*files).outcome == "translate_error"
    assert not check(*files).accepted
