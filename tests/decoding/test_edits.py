"""Edits on the rungs "typed" and "grounded": accept and reject lists."""

import json
from dataclasses import replace
from typing import Any

import pytest

from pddlego_local.core.nouns import Names
from pddlego_local.decoding.forms import EDIT
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Constraint, place_of_departure
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import apply
from pddlego_local.pddl.sections import with_goal
from tests.decoding.on_rung import constraint_for
from tests.decoding.test_typed import DOMAIN

HOUSE = """(define (problem now)
  (:domain house)
  (:objects hall cellar door1 - room up - way candle - lamp)
  (:init (at hall) (next hall cellar up) (next hall door1 up) (has candle))
  (:goal (at cellar)))"""
SCENE = GrammarContext(
    domain=DOMAIN,
    problem=HOUSE,
    names=Names(
        ("hall", "cellar", "door1", "up", "candle", "torch", "attic", "Loft", "down")
    ),
)
OUT_OF_DOOR1 = "(next hall door1 up)"


def staged(
    rung: str, context: GrammarContext = SCENE, layout: Layout = "any"
) -> Constraint:
    return constraint_for(rung, EDIT, context, layout)


def edit(**lists: Any) -> dict[str, Any]:
    """`add`, `replace` and `delete` of the objects; of the facts with `init_`
    before.
    """
    empty: dict[str, Any] = {"add": [], "replace": {}, "delete": []}
    return {
        "objects": {key: lists.get(key, nothing) for key, nothing in empty.items()},
        "init": {
            key: lists.get(f"init_{key}", nothing) for key, nothing in empty.items()
        },
    }


def departure(
    written: Any, rung: str = "typed", context: GrammarContext = SCENE, **layout: Any
) -> str:
    return place_of_departure(staged(rung, context), json.dumps(written, **layout))


def changed(written: Any, context: GrammarContext = SCENE) -> str:
    """The edited problem, in which nothing may be wrong."""
    problem, faults, _ = apply(written, context.problem)
    assert faults == ()
    found = check(context.domain, with_goal(problem, "(and)"))
    assert found.accepted, found.faults
    return problem


ACCEPTED = {
    "nothing": edit(),
    "objects and facts about them": edit(
        add=["attic Loft - room", "down - way"],
        init_add=["(next attic Loft down)", "(at attic)", "(done)", "(at Loft)"],
    ),
    "a supertype for an object": edit(add=["attic - thing"], init_add=["(has attic)"]),
    "the type object": edit(add=["attic - object"]),
    "a constant in a fact": edit(init_add=["(has torch)", "(lit torch)"]),
    "a placeholder gets its name": edit(
        replace={"door1": "attic"},
        init_add=["(at attic)"],
        init_delete=["(next hall attic up)"],
    ),
    "an object goes with its facts": edit(delete=["door1"], init_delete=[OUT_OF_DOOR1]),
    "an object goes, its fact becomes another": edit(
        delete=["door1"], init_replace={OUT_OF_DOOR1: "(next hall cellar up)"}
    ),
    "facts become others": edit(
        init_replace={"(at hall)": "(at cellar)", "(has candle)": "(lit candle)"}
    ),
    "all facts go": edit(
        init_delete=[OUT_OF_DOOR1, "(has candle)", "(at hall)", "(next hall cellar up)"]
    ),
}


@pytest.mark.parametrize("rung", ["typed", "grounded"])
@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, rung: str) -> None:
    written = ACCEPTED[name]
    assert departure(written, rung) == ""
    assert departure(written, rung, indent=2) == ""
    assert departure(written, rung, separators=(",", ":")) == ""
    exact = staged(rung, layout="line")
    assert place_of_departure(exact, json.dumps(written)) == ""
    assert place_of_departure(exact, json.dumps(written, separators=(",", ":")))
    assert place_of_departure(exact, json.dumps(written, indent=2))
    changed(written)


REJECTED = {
    "a name that runs in circles": edit(add=["up-up-up-up - room"]),
    "an object that is there, in capitals": edit(add=["HALL - room"]),
    "an object that is a constant": edit(add=["torch - lamp"]),
    "a type that is declared nowhere": edit(add=["attic - attics"]),
    "an object of no type": edit(add=["attic"]),
    "another name for what is not there": edit(replace={"kitchen": "attic"}),
    "a name that is there for another": edit(replace={"door1": "hall"}),
    "one name for two": edit(replace={"door1": "attic", "hall": "attic"}),
    "deleting what is not there": edit(delete=["kitchen"]),
    "deleting a constant": edit(delete=["torch"]),
    "deleting what has another name now": edit(
        replace={"door1": "attic"}, delete=["door1"]
    ),
    "deleting what was added": edit(add=["attic - room"], delete=["attic"]),
    "an object goes without its facts": edit(delete=["door1"]),
    "an object goes, its fact stays about it": edit(
        delete=["door1"], init_replace={OUT_OF_DOOR1: "(next door1 hall up)"}
    ),
    "an unknown object in a fact": edit(init_add=["(at kitchen)"]),
    "a deleted object in a fact": edit(
        delete=["door1"], init_delete=[OUT_OF_DOOR1], init_add=["(at door1)"]
    ),
    "an old name in a fact": edit(replace={"door1": "attic"}, init_add=["(at door1)"]),
    "an argument of another type": edit(init_add=["(at up)"]),
    "a supertype as argument": edit(add=["attic - thing"], init_add=["(lit attic)"]),
    "too many arguments": edit(init_add=["(at hall cellar)"]),
    "too few arguments": edit(init_add=["(next hall cellar)"]),
    "an unknown predicate": edit(init_add=["(in hall)"]),
    "a negated fact": edit(init_add=["(not (at hall))"]),
    "a fact without brackets": edit(init_add=["at hall"]),
    "an object that is there, of another type": edit(add=["hall - way"]),
    "a new object of two types": edit(add=["attic - room", "attic - way"]),
    "what is there among new objects of another type": edit(add=["hall attic - way"]),
    "a new object of another type takes a place": edit(
        add=["attic - way"], replace={"door1": "attic"}
    ),
    "deleting a fact that is not there": edit(init_delete=["(at cellar)"]),
    "a fact with an old name": edit(
        replace={"door1": "attic"}, init_delete=[OUT_OF_DOOR1]
    ),
    "replacing a fact that is not there": edit(
        init_replace={"(at cellar)": "(at hall)"}
    ),
    "replacing a fact by an untyped one": edit(init_replace={"(at hall)": "(at up)"}),
    "replacing a name in the facts": edit(init_replace={"hall": "cellar"}),
    "deleting a replaced fact": edit(
        init_replace={"(at hall)": "(at cellar)"}, init_delete=["(at hall)"]
    ),
    "another order of the keys": {key: edit()[key] for key in ("init", "objects")},
    "a key more": edit() | {"goal": []},
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str) -> None:
    assert departure(REJECTED[name])
    assert place_of_departure(
        staged("typed", layout="line"), json.dumps(REJECTED[name])
    )


def test_an_answer_ends_where_it_ends() -> None:
    assert place_of_departure(staged("typed"), json.dumps(edit())[:-1])
    assert place_of_departure(staged("typed"), json.dumps(edit()) + "}")


def test_only_grounded_rejects_what_nobody_mentioned() -> None:
    for lists in (
        {"add": ["kitchen - room"]},
        {"add": ["attic kitchen - room"]},
        {"replace": {"door1": "kitchen"}},
    ):
        assert departure(edit(**lists)) == ""
        assert departure(edit(**lists), "grounded")


def test_an_object_that_shares_its_name_with_a_predicate_is_renamed_alone() -> None:
    problem = HOUSE.replace("door1", "at").replace("(at hall)", "(at at)")
    context = replace(SCENE, problem=problem)
    written = edit(replace={"at": "attic"}, init_delete=["(at attic)"])
    assert departure(written, context=context) == ""
    assert "(at at)" not in changed(written, context)
    assert departure(
        edit(replace={"at": "attic"}, init_delete=["(at at)"]), context=context
    )


def test_a_name_that_a_fact_spells_in_another_way_is_kept() -> None:
    problem = HOUSE.replace("(has candle)", "(has CANDLE)")
    context = replace(SCENE, problem=problem)
    assert check(DOMAIN, problem).accepted
    assert departure(edit(replace={"candle": "match"}), context=context)
    assert departure(edit(replace={"hall": "attic"}), context=context) == ""
    assert departure(edit(delete=["candle"]), context=context)
    gone = edit(delete=["candle"], init_delete=["(has CANDLE)"])
    assert departure(gone, context=context) == ""
    changed(gone, context)


def test_the_first_edit_finds_an_empty_problem() -> None:
    for problem in (
        "",
        "(define (problem p) (:domain house) (:objects) (:init) (:goal (and)))",
    ):
        context = replace(SCENE, problem=problem)
        first = edit(add=["hall - room"], init_add=["(at hall)"])
        assert departure(first, "grounded", context) == ""
        assert departure(edit(delete=["hall"]), "grounded", context)
        assert departure(edit(init_delete=["(at hall)"]), "grounded", context)
    assert departure(edit(), context=GrammarContext()) == ""


def test_where_all_names_are_there_nothing_is_added() -> None:
    context = replace(SCENE, names=Names(("Hall", "torch")))
    assert (
        departure(
            edit(delete=["door1"], init_delete=[OUT_OF_DOOR1]), "grounded", context
        )
        == ""
    )
    assert departure(edit(add=["attic - room"]), "grounded", context)
    assert departure(edit(replace={"door1": "attic"}), "grounded", context)


def test_signatures_add_nothing_to_syntax() -> None:
    syntax = constraint_for("syntax", EDIT).first_grammar
    signatures = constraint_for("signatures", EDIT).first_grammar
    assert syntax and signatures
    for written in (*ACCEPTED.values(), *REJECTED.values()):
        text = json.dumps(written)
        assert decoder_verdict(signatures, text) == decoder_verdict(syntax, text)
