"""Why there can be no plan: what is said of small pairs, and that no planner disproves
it.
"""

import random

import pytest

from pddlego_local.pddl.check import check
from pddlego_local.planner.fast_downward import FastDownward
from tests.pddl.random_tasks import random_task
from tests.pddl.test_static_check import with_change
from tests.tables import table

CASES = table(__file__)
HOUSE, TASK = CASES["house"], CASES["task"]


def said(problem: str, domain: str = HOUSE) -> list[str]:
    found = [fault.message for fault in check(domain, problem).no_plan]
    assert set(found) <= {fault.message for fault in check(domain, problem).faults}
    return found


def test_a_task_with_a_plan_has_no_warning() -> None:
    assert said(TASK) == []


@pytest.mark.parametrize(("old", "new", "message"), CASES["in_the_way"])
def test_what_stands_in_the_way_is_named(old: str, new: str, message: str) -> None:
    told = said(with_change(TASK, old, new))
    assert any(message in text for text in told), told


def test_a_fact_that_only_its_own_action_could_give() -> None:
    task = with_change(TASK, "(at table) ", "")
    (message,) = said(with_change(task, "(clean mug)", "(at drawer1)"))
    assert message.endswith(": `goto` needs `(at ?from)`, and nothing makes that true")


def test_two_conditions_that_exclude_each_other() -> None:
    facts = "(at table) (at hook) (way pen drawer1) (way mug drawer1)"
    task = with_change(TASK, "(at table) (way table drawer1)", facts)
    domain = with_change(HOUSE, "(?from ?to - place)", "(?from ?to)")
    (message,) = said(with_change(task, "(clean mug)", "(at drawer1)"), domain)
    assert message.endswith(
        "`goto` needs `(way hook drawer1)`, and nothing makes that true"
    )


def test_an_action_without_an_object_for_a_parameter() -> None:
    domain = with_change(HOUSE, "drawer - place", "drawer - place tap - object")
    domain = with_change(domain, "(?c - cup)", "(?c - cup ?t - tap)")
    (message,) = said(TASK, domain)
    assert message.endswith("`wash` has a parameter for which there is no object")


def test_conditions_that_might_be_met_are_not_held_against_a_task() -> None:
    domain = with_change(
        HOUSE,
        ":precondition (held ?c)",
        ":precondition (or (held ?c) (exists (?p - place) (at ?p)))",
    )
    assert said(TASK, domain) == []
    assert not any(
        "no action can" in text for text in said(TASK.replace("(closed", "(opened"))
    )
    assert not any(
        "no action can" in text
        for text in said(with_change(TASK, "(closed drawer1) ", ""), domain)
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(and (at ?from) (way ?from ?to))", "(not (at ?to))"),
        ("(?from ?to - place)", "(?from ?to ?x ?y ?z - place)"),
    ],
)
def test_tasks_beyond_the_bound_are_given_up_silently(old: str, new: str) -> None:
    names = " ".join(f"p{number}" for number in range(400))
    task = with_change(TASK, "pen - thing", f"pen - thing {names} - place")
    domain = with_change(HOUSE, old, new)
    assert said(with_change(task, "(clean mug)", "(clean pen)"), domain) == []


def test_the_planner_never_disproves_what_is_said(planner: FastDownward) -> None:
    draw = random.Random(3)
    unsolvable, explained = 0, 0
    for number in range(60):
        domain, problem = random_task(draw, goal_depth=number % 3)
        outcome = planner.plan(domain, problem).outcome
        reasons = " ".join(said(problem, domain))
        if "no action can make" in reasons:
            assert outcome == "unsolvable", (reasons, domain, problem)
            explained += 1
        is_true = "already holds" in reasons
        assert is_true == (outcome == "goal_already_true"), (reasons, domain, problem)
        unsolvable += outcome == "unsolvable"
    # A check that says nothing would pass without this line.
    assert explained > unsolvable / 3 > 2
