"""What PDDLego does mechanically in CookingWorld, and how such games end."""

import json

import pytest

from pddlego_local.core.nouns import Budget
from pddlego_local.core.record.events import Plan
from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.methods.pddl_gen import PddlGen
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.playing import commands, of, play

# Game 1 with 5 rooms: in the kitchen a stove, an oven, a knife and a red potato; the
# fridge holds water and a red onion. The recipe: water, red onion, red potato, salt,
# flour.
NOTHING = '{"closed": [], "items": []}'


def seen(closed: list[str], items: list[str]) -> str:
    return json.dumps({"closed": closed, "items": items})


def hard(actions: int = 50) -> Cooking:
    return Cooking(rooms=5, ingredients=5, budget=Budget(unit="actions", limit=actions))


def test_a_meal_that_is_ready_needs_no_plan(planner: FastDownward) -> None:
    """One room, one ingredient: where nothing is to be processed the end goal is
    already true. The method's own steps follow, so this is no solver error.
    """
    for game in range(6):
        outcome, events = play(
            PddlGen(),
            Cooking(rooms=1, ingredients=1),
            ReferenceFormalizer(),
            planner,
            game=game,
        )
        assert outcome == "success"
        assert summarize(events).solver_errors == 0
        if "goal_already_true" in {plan.outcome for plan in of(events, Plan)}:
            return
    pytest.fail("no meal was ready")


def test_what_is_wanted_is_taken_and_nothing_else(planner: FastDownward) -> None:
    answers = [
        seen(["fridge", "trash can"], ["knife", "red potato", "cookbook", "dragon"]),
        seen(["trash can"], ["water", "red onion"]),
        NOTHING,
        "?",
    ]
    model = Scripted(answers)
    outcome, events = play(PddlGen(max_retries=0), hard(), model, planner)
    assert outcome == "no_plan"
    assert commands(events)[:6] == [
        "take knife", "take red potato", "open fridge", "take water", "take red onion",
        "open trash can",
    ]  # fmt: skip
    first, second = (question.messages[0].content for question in model.asked[:2])
    assert "closed containers" not in first
    assert "still closed" in first
    assert "Action: open fridge" in second
    assert "Action: open fridge" not in first


def test_containers_that_are_not_there_cost_actions_and_come_to_an_end(
    planner: FastDownward,
) -> None:
    invented = [
        seen([f"chest {letter}"], []) for letter in "abcdefghijklmnopqrstuvwxyz"
    ]
    outcome, events = play(PddlGen(), hard(actions=5), Scripted(invented), planner)
    assert outcome == "step_limit"
    row = summarize(events)
    assert (row.actions, row.refused) == (0, 5)


def pddl(action: str, parameters: str, goal: str) -> str:
    """A domain of one action that makes (done ?x) true of its first parameter, and its
    problem.
    """
    domain = (
        "(define (domain d) (:types thing) (:predicates (done ?x - thing)) "
        f"(:action {action} :parameters ({parameters}) :effect (done ?x)))"
    )
    file = (
        "(define (problem p) (:domain d) (:objects red_potato knife - thing) (:init)"
        f" {goal})"
    )
    return json.dumps({"df": domain, "pf": file})


def test_wrong_processing_loses_the_game(planner: FastDownward) -> None:
    """The recipe chops the potato."""
    take = pddl(
        "take", "?x ?at - thing", "(:goal (and (done red_potato) (done knife)))"
    )
    dice = pddl("dice", "?x ?with - thing", "(:goal (done red_potato))")
    outcome, events = play(PddlegoPlus(), hard(), Scripted([take, dice]), planner)
    assert outcome == "game_lost"
    assert commands(events)[-1] == "dice red potato"
    assert summarize(events).refused == 0
