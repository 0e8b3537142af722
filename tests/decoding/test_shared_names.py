"""Which names may be the same: every sharing, judged by the planner and by the rung
"typed".

A sharing is right where the planner finds the plan that it finds with names of their
own. The rung permits those and no others.
"""

import itertools
import json
from collections.abc import Iterator

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.staged.writing import OPERATORS
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward
from tests.decoding.on_rung import constraint_for

# Each role is used wherever PDDL lets it stand.
DOMAIN = """(define (domain {domain})
  (:requirements :strips :typing)
  (:types {type} way - object)
  (:constants {constant} - way)
  (:predicates ({predicate} ?r - {type}) (next ?a ?b - {type} ?w - way))
  (:action {action}
    :parameters (?from - {type} ?to - {type} ?dir - way)
    :precondition (and ({predicate} ?from) (next ?from ?to ?dir)
      (not (forall (?r - {type}) ({predicate} ?r))) (not (= ?dir {constant})))
    :effect (and (not ({predicate} ?from)) ({predicate} ?to))))"""
PROBLEM = """(define (problem {problem})
  (:domain {domain})
  (:objects hall {object} - {type} up - way)
  (:init ({predicate} hall) (next hall {object} {constant})
  (next {object} hall {constant})
    (next hall {object} up))
  (:goal ({predicate} {object})))"""
OWN = {
    "domain": "house",
    "problem": "now",
    "type": "room",
    "predicate": "at",
    "action": "go",
    "constant": "down",
    "object": "cellar",
}
WORDS = sorted({*OPERATORS, "either", "object", "number", "define", "action", "init"})


def sharings() -> Iterator[dict[str, str]]:
    for roles in itertools.combinations(OWN, 2):
        yield dict.fromkeys(roles, "same")
    for word in WORDS:
        yield from ({role: word} for role in ("type", "predicate"))
    yield dict.fromkeys(
        ("domain", "problem", "type", "predicate", "action", "object"), "open-door"
    )
    yield {"type": "Room", "predicate": "rOOM"}


def test_a_name_may_be_shared_where_the_planner_is_not_misled(
    planner: FastDownward,
) -> None:
    plan = planner.plan(DOMAIN.format(**OWN), PROBLEM.format(**OWN)).plan
    assert plan == ("(go hall cellar up)",)
    permitted = []
    for sharing in sharings():
        names = OWN | sharing
        pair = DOMAIN.format(**names), PROBLEM.format(**names)
        found = planner.plan(*pair)
        right = f"({names['action']} hall {names['object']} up)".lower()
        same = found.outcome == "solved" and found.plan == (right,)
        assert _in_language(*pair, names) == same, (sharing, found)
        assert check(*pair).accepted == (found.outcome != "translate_error"), sharing
        permitted += [sharing] if same else []
    assert {"type": "same", "predicate": "same"} in permitted
    assert {"predicate": "same", "action": "same"} in permitted
    refused = [sharing for sharing in sharings() if sharing not in permitted]
    assert refused == [
        {"constant": "same", "object": "same"},
        *(
            {"type" if word == "number" else "predicate": word}
            for word in WORDS
            if word in OPERATORS or word == "number"
        ),
    ]


def _in_language(domain: str, problem: str, names: dict[str, str]) -> bool:
    """Of the rung "typed", in all layouts."""
    parameters = f"(?from - {names['type']} ?to - {names['type']} ?dir - way)"
    context = GrammarContext(actions=(Action(names["action"], parameters, "go {dir}"),))
    answer = {"df": domain, "pf": problem}
    printed = Printer("line", context.actions, as_staged=True).answer(answer)
    inside = [
        place_of_departure(constraint_for("typed", PDDL, context), json.dumps(answer))
        == "",
        place_of_departure(constraint_for("typed", PDDL, context, "line"), printed)
        == "",
    ]
    assert inside[0] == inside[1], names
    return inside[0]
