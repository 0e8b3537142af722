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
from tests.tables import table

CASES = table(__file__)

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


ACCEPTED = {name: edit(**lists) for name, lists in CASES["accepted"].items()}


@pytest.mark.parametrize("rung", ["typed", "grounded"])
@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str, rung: str) -> None:
    written = ACCEPTED[name]
    assert departure(written, rung) == ""
    assert departure(written, rung, indent=2) == ""
    assert departure(written, rung, separators=(",", ":")) == ""
    exact = staged(rung, layout="line")
    assert place_of_departure(exact, json.dumps(written)) == ""
    changed(written)


REJECTED = {
    **{name: edit(**lists) for name, lists in CASES["rejected"].items()},
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


@pytest.mark.parametrize(("lists", "kept", "again", "other"), CASES["contradictions"])
def test_what_contradicts_is_rolled_back(
    lists: str, kept: str, again: str, other: str
) -> None:
    """The text is kept up to the repetition; the same cannot come again, something else
    can.
    """
    stages = staged("typed").stages()
    text = f'{{"objects": {{{lists}}}'
    assert decoder_verdict(next(stages).grammar, text) == "accepted"
    rest = stages.send(text)
    before = text[: len(text) - rest.rollback_chars]
    assert before.endswith(kept)
    assert decoder_verdict(rest.grammar, text[len(before) :]) == "rejected"
    assert decoder_verdict(rest.grammar, again) == "rejected"
    end = {"add": '], "replace": {}, "delete": []}', "replace": '}, "delete": []}'}
    heading = next(key for key in ("delete", "replace", "add") if f'"{key}"' in before)
    assert decoder_verdict(rest.grammar, other + end.get(heading, "]}")) == "accepted"


def test_a_loop_in_one_answer_bans_nothing_in_another() -> None:
    constraint = staged("typed")
    begin = next(constraint.stages()).grammar
    stages = constraint.stages()
    next(stages)
    added = '{"objects": {"add": ["nonenonenone - room"]'
    rest = stages.send(added + ', "replace": {}, "delete": []}')
    assert rest.rollback_chars > 0
    assert next(constraint.stages()).grammar == begin


def test_one_name_in_two_spellings_of_a_line_is_one_object() -> None:
    """A random model wrote it under `typed`, and the planner refused the file."""
    written = edit(add=["AttiC attic - room"])
    assert departure(written) == ""
    assert "AttiC" in changed(written)
