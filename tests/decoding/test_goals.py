"""Which goals each arm leaves out: by accept and reject lists, by stages, and in random
answers.

The house is that of `test_typed`; there (at hall), (next hall cellar up) and (has
candle) are true.
"""

import json
from dataclasses import replace

import pytest

from pddlego_local.core.nouns import Names
from pddlego_local.decoding.forms import PROBLEM
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Stage, Stages, place_of_departure
from pddlego_local.planner import FastDownward
from tests.decoding.on_rung import constraint_for
from tests.decoding.test_typed import CASES, SCENE, changed, departure
from tests.decoding.test_typed import DOMAIN as HOUSE

RUNGS = ("typed", "grounded")
SMALL = """(define (domain d) (:types t) (:predicates (p ?x - t))
  (:action a :parameters (?x - t) :effect (p ?x)))"""


def house(goal: str) -> tuple[str, str]:
    return changed("(:goal (at cellar))", f"(:goal {goal})")


NOT_YET, ALREADY_TRUE = CASES["goals_not_yet_true"], CASES["goals_already_true"]


@pytest.mark.parametrize("rung", RUNGS)
def test_unmet_leaves_out_goals_that_are_already_true_and_no_others(
    rung: str, planner: FastDownward
) -> None:
    """Whatever operators they have; "any" leaves out none."""
    for goal in (*NOT_YET, *ALREADY_TRUE):
        excluded = departure(*house(goal), rung, goal="unmet")
        assert bool(excluded) is (goal in ALREADY_TRUE), goal
        assert departure(*house(goal), rung, goal="any") == "", goal
        if rung == "typed":  # the planner does not know of rungs
            outcome = planner.plan(*house(goal)).outcome
            assert (outcome == "goal_already_true") is (goal in ALREADY_TRUE), goal


def test_a_goal_for_all_things_of_a_type_that_has_none_is_already_true() -> None:
    domain, problem = changed("(:types room way", "(:types room way door")
    problem = problem.replace(
        "(:goal (at cellar))", "(:goal (forall (?d - door) (done)))"
    )
    assert departure(domain, problem, "typed", goal="any") == ""
    assert departure(domain, problem, "typed", goal="unmet")


def test_a_goal_that_the_method_replaces_may_be_already_true() -> None:
    for own_goal in (True, False):
        asked = replace(SCENE, domain=HOUSE, own_goal=own_goal)
        staged = constraint_for("grounded", PROBLEM, asked)
        assert staged.in_stages
        text = json.dumps({"pf": house("(at hall)")[1]})
        assert bool(place_of_departure(staged, text)) is own_goal


def begin(problem: str) -> tuple[Stages, Stage]:
    """A problem for the house, its objects and the rest sent; the stages then, and the
    next one.
    """
    staged = constraint_for(
        "typed", PROBLEM, replace(SCENE, domain=HOUSE), goal="unmet"
    )
    assert staged.in_stages
    text = json.dumps({"pf": problem})
    cut = text.index("(:init")
    cut = len(text[:cut].removesuffix("\\n  "))
    stages = staged.stages()
    assert decoder_verdict(next(stages).grammar, text[:cut]) == "accepted"
    assert decoder_verdict(stages.send(text[:cut]).grammar, text[cut:]) == "accepted"
    return stages, stages.send(text[cut:])


@pytest.mark.parametrize("goal", ["(at hall)", "(or (at hall) (done))"])
def test_only_the_goal_is_rolled_back_and_resampled(goal: str) -> None:
    problem = house(goal)[1]
    stages, again = begin(problem)
    dropped = json.dumps({"pf": problem})[-again.rollback_chars :]
    assert again.name == "goal" and dropped.lstrip("\\n ").startswith("(:goal")
    assert decoder_verdict(again.grammar, dropped) == "rejected"
    for other in ("(at cellar)", "(and (at hall) (not (done)) (at cellar))"):
        assert (
            decoder_verdict(again.grammar, dropped.replace(goal, other)) == "accepted"
        )
    with pytest.raises(StopIteration):
        stages.send(dropped.replace(goal, "(at cellar)"))


def after(rung: str, objects: str, rest: str, *names: str) -> tuple[Stages, Stage]:
    """The stages of a small problem, after its objects and the rest were sent, and the
    next one.
    """
    asked = GrammarContext(domain=SMALL, names=Names(names))
    staged = constraint_for(rung, PROBLEM, asked, goal="unmet")
    assert staged.in_stages
    stages = staged.stages()
    next(stages)
    stages.send(f'{{"pf": "(define (problem p) (:domain d) (:objects{objects}')
    return stages, stages.send(rest)


def test_where_all_facts_are_true_one_is_denied() -> None:
    _, again = after("typed", " a b - t)", ' (:init (p a) (p b)) (:goal (p a)))"}')
    assert decoder_verdict(again.grammar, ' (:goal (p a)))"}') == "rejected"
    assert decoder_verdict(again.grammar, ' (:goal (not (p b))))"}') == "accepted"
    assert (
        decoder_verdict(again.grammar, ' (:goal (and (p a) (not (p a)))))"}')
        == "accepted"
    )


@pytest.mark.parametrize("rung", RUNGS)
def test_where_no_fact_can_be_written_the_goal_is_never_true(rung: str) -> None:
    _, goal = after(rung, ")", ' (:init) (:goal (and)))"}', "a")
    assert decoder_verdict(goal.grammar, ' (:goal (or)))"}') == "accepted"
    assert decoder_verdict(goal.grammar, ' (:goal (and)))"}') == "rejected"
