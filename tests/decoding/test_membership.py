"""Whether a free answer lies in a rung's language: another layout does, what is wrong
does not.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pddlego_local.core.nouns import Completion, Message, Names
from pddlego_local.decoding.forms import COMMAND, DOMAIN, EDIT, PDDL, PROBLEM, Form
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.question import GrammarContext, Question
from pddlego_local.decoding.rungs import RungName
from pddlego_local.episode.reading.answer import read_free
from tests.decoding import test_edits
from tests.decoding.contexts import HOUSE as COIN
from tests.decoding.test_edits import edit
from tests.decoding.test_typed import DOMAIN as DF
from tests.decoding.test_typed import PROBLEM_FILE as PF
from tests.decoding.test_typed import SCENE
from tests.tables import table

CASES = table(__file__)

PROMPT = (Message("user", "Write the PDDL."),)


def outside(
    text: str,
    form: Form[Any] = PDDL,
    context: GrammarContext = SCENE,
    rung: RungName = "grounded",
) -> str:
    """Why a free answer is rejected."""
    answer = read_free(Completion(text, "stop", 1, 1, 0.0), form, prompt=PROMPT)
    if answer.value is None:
        return answer.fault
    return why_outside(answer.value, Question(form, PROMPT, context), rung)


def written(
    old: str = "", new: str = "", *, as_: Callable[[str, str], str] | None = None
) -> str:
    """The house with one change, as a JSON object or otherwise."""
    assert old in DF + PF
    files = DF.replace(old, new, 1 if old else 0), PF.replace(old, new, 1 if old else 0)
    return as_(*files) if as_ else json.dumps({"df": files[0], "pf": files[1]})


def fenced(df: str, pf: str) -> str:
    return f"Here you are:\n```pddl\n{df}\n```\nand\n```pddl\n{pf}\n```\nGood luck!"


TYPES = "(:types room way - object thing - object lamp - thing)"
INSIDE = {
    **{name: written(*change) for name, change in CASES["inside"].items()},
    "as it is": written(),
    "in fences": written(as_=fenced),
    "on one line": written(
        as_=lambda *files: fenced(*(" ".join(file.split()) for file in files))
    ),
    "in capitals": written(as_=lambda df, pf: fenced(df.upper(), pf)),
    "predicates before types": written(
        DF[DF.index(TYPES) : DF.index("(:action go")],
        DF[DF.index("(:predicates") : DF.index("(:action go")]
        + TYPES
        + "(:constants torch - lamp)",
    ),
    "one action, and no types of the other": written(
        DF[DF.index("(:action light") : DF.rindex("))")] + ")", ""
    ),
}
OUTSIDE = {
    **{
        name: (written(old, new), why)
        for name, (old, new, why) in CASES["outside"].items()
    },
    "no answer": ("I do not know.", "no_json"),
    "facts before objects": (
        written(
            PF[PF.index("(:objects") :],
            "(:init) (:objects hall - room) (:goal (at hall)))",
        ),
        "column",
    ),
    "brackets without end": (
        written("(at cellar))", f"{'(not ' * 900}(at cellar){')' * 901}"),
        "",
    ),
}


@pytest.mark.parametrize("name", INSIDE)
def test_what_is_laid_out_otherwise_or_redundant_is_inside(name: str) -> None:
    assert outside(INSIDE[name]) == ""


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_wrong_is_outside(name: str) -> None:
    text, why = OUTSIDE[name]
    found = outside(text)
    assert found and why in found, found


def test_each_rung_has_its_own_language() -> None:
    met, made_up = (
        written("(:goal (at cellar))", "(:goal (at hall))"),
        json.dumps({"df": DF, "pf": PF.replace("cellar", "attic")}),
    )
    for text in (met, made_up):
        assert outside(text)
        assert outside(text, rung="typed") == ""


def test_one_file_alone_is_judged_too() -> None:
    assert outside(json.dumps({"df": DF}), DOMAIN) == ""
    assert outside(json.dumps({"df": DF.replace("?dir - way", "?dir")}), DOMAIN)
    context = replace(SCENE, domain=DF)
    assert outside(json.dumps({"pf": PF.upper()}), PROBLEM, context) == ""
    assert outside(json.dumps({"pf": PF.replace("(has ", "(had ")}), PROBLEM, context)


INSIDE_EDITS = [
    edit(add=["attic - room"], init_add=["(at attic)"]),
    edit(add=["attic Loft - room down - way"], init_add=["at attic", "( at  Loft )"]),
    edit(add=["(attic - room)"], init_add=["(at attic) (next attic hall down)"])
    | {"objects": {"add": ["attic - room", "down - way"], "replace": {}, "delete": []}},
    edit(add=["hall - room"], init_add=["(at hall)", "(at hall)"]),
    edit(init_delete=["(AT HALL)", "(at hall)"], init_add=["(at cellar)"]),
    edit(replace={"door1": "attic"}, init_replace={" ( has  candle ) ": "(has torch)"}),
    edit(delete=["candle - lamp"], init_delete=["has candle"]),
]
OUTSIDE_EDITS = [
    edit(add=["- room"]),
    edit(add=["attic"], init_add=["(at attic)"]),  # an object of no type is no room
    edit(delete=["candle"]),  # of which a fact is left
    edit(init_add=[""]),
]


@pytest.mark.parametrize("number", range(len(INSIDE_EDITS)))
def test_edits_that_a_rung_can_write_in_some_layout_are_inside(number: int) -> None:
    assert outside(json.dumps(INSIDE_EDITS[number]), EDIT, test_edits.SCENE) == ""


@pytest.mark.parametrize("number", range(len(OUTSIDE_EDITS)))
def test_edits_that_are_wrong_are_outside(number: int) -> None:
    assert outside(json.dumps(OUTSIDE_EDITS[number]), EDIT, test_edits.SCENE)


def test_names_of_an_edit_are_those_that_the_prompt_shows() -> None:
    unseen = replace(test_edits.SCENE, names=Names(("hall",)))
    added = json.dumps(edit(add=["attic - room"]))
    assert outside(added, EDIT, unseen)
    assert outside(added, EDIT, unseen, "typed") == ""


def test_what_is_no_pddl_is_judged_as_it_is() -> None:
    assert outside("move north", COMMAND, COIN, "typed") == ""
    assert outside("fly north", COMMAND, COIN, "typed")
