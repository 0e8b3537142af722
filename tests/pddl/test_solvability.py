"""Why there can be no plan: what is said of small pairs, and that no planner disproves
it.
"""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from pddlego_local.pddl.check import check
from pddlego_local.planner.fast_downward import FastDownward
from tests.pddl.test_static_check import with_change

CASES: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("solvability.yaml").read_text(encoding="utf-8")
)
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
    assert message.endswith(": `GoTo` needs `(at ?from)`, and nothing makes that true")


def test_two_conditions_that_exclude_each_other() -> None:
    task = with_change(
        TASK,
        "(at table) (way table drawer1)",
        "(at table) (at hook) (way pen drawer1) (way mug drawer1)",
    )
    domain = with_change(
        HOUSE, ":parameters (?from ?to - place)", ":parameters (?from ?to)"
    )
    assert said(with_change(task, "(clean mug)", "(at drawer1)"), domain) == [
        "no action can make `(at drawer1)` true: `GoTo` finds no objects that meet all"
        " its conditions"
    ]


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


def test_large_tasks_are_given_up_quickly_and_silently() -> None:
    names = " ".join(f"p{number}" for number in range(400))
    facts = " ".join(f"(way p{number} p{number + 1})" for number in range(399))
    task = with_change(TASK, "pen - thing", f"pen - thing {names} - place")
    task = with_change(task, "(way table", f"{facts} (way table")
    domain = with_change(HOUSE, "(and (at ?from) (way ?from ?to))", "(at ?from)")
    assert said(with_change(task, "(clean mug)", "(clean pen)"), domain) in (
        [],
        [
            (
                "no action can make `(clean pen)` true: `Wash` takes for `?c` nothing "
                "but a `cup`"
            )
        ],
    )


def random_task(draw: random.Random, goal_depth: int = 2) -> tuple[str, str]:
    """A small task of every kind of condition and effect that has no derived
    predicates. No object is a "v". The goal has operators where `goal_depth` is below
    2.
    """
    types, objects = ["t", "u", "object", "v"], ["a", "b", "c", "d"]
    arity = {"p": 1, "q": 2, "r": 1, "s": 0}

    def atom(terms: list[str]) -> str:
        name = draw.choice(list(arity))
        return (
            f"({' '.join([name, *(draw.choice(terms) for _ in range(arity[name]))])})"
        )

    def condition(terms: list[str], depth: int = 0) -> str:
        form = draw.randrange(10) if depth < 2 else draw.randrange(6)
        if form < 4:
            return atom(terms)
        if form == 4:
            return f"(not {atom(terms)})"
        if form == 5:
            return f"(= {draw.choice(terms)} {draw.choice(terms)})"
        if form == 6:
            kind, inner = draw.choice(["exists", "forall"]), [*terms, "?z"]
            return f"({kind} (?z - {draw.choice(types)}) {condition(inner, depth + 1)})"
        parts = " ".join(condition(terms, depth + 1) for _ in range(2))
        return f"({draw.choice(['and', 'or', 'imply'])} {parts})"

    def effect(terms: list[str]) -> str:
        change = draw.choice(["{}", "{}", "(not {})"]).format(atom(terms))
        form = draw.randrange(6)
        if form == 0:
            return f"(when {condition(terms, 1)} {change})"
        if form == 1:
            inner = draw.choice(["{}", "(not {})"]).format(atom([*terms, "?x"]))
            return f"(forall (?x - {draw.choice(types)}) {inner})"
        return change

    actions = []
    for number in range(3):
        terms = ["?x", "?y", "a"]
        needs = " ".join(condition(terms) for _ in range(draw.choice((1, 2, 3))))
        gives = " ".join(effect(terms) for _ in range(draw.choice((1, 2))))
        actions.append(
            f"(:action act{number} :parameters (?x - {draw.choice(types)} ?y - t)"
            f" :precondition (and {needs}) :effect (and {gives}))"
        )
    domain = (
        "(define (domain d) (:types t v - object u - t) (:constants a - t)"
        " (:predicates (p ?x) (q ?x ?y) (r ?x) (s)) " + "\n".join(actions) + ")"
    )
    facts = " ".join(atom(objects) for _ in range(draw.choice((2, 4, 6))))
    goals = " ".join(condition(objects, goal_depth) for _ in range(draw.choice((1, 2))))
    return (
        domain,
        (
            f"(define (problem x) (:domain d) (:objects b - u c d) (:init {facts})"
            f" (:goal (and {goals})))"
        ),
    )


def test_the_planner_never_disproves_what_is_said(planner: FastDownward) -> None:
    draw = random.Random(3)
    wrong, fruitless, told = [], 0, 0
    for _ in range(100):
        domain, problem = random_task(draw)
        outcome = planner.plan(domain, problem).outcome
        reasons = [fault.message for fault in check(domain, problem).no_plan]
        impossible = any("no action can make" in reason for reason in reasons)
        holds = any("already hold" in reason for reason in reasons)
        fruitless += outcome == "unsolvable"
        told += outcome == "unsolvable" and impossible
        if (impossible and outcome != "unsolvable") or (
            holds and outcome != "goal_already_true"
        ):
            wrong.append(f"{outcome} {reasons}\n{domain}\n{problem}")
    assert wrong == []
    assert told > fruitless / 4 > 5  # a checker that says nothing would pass as well
