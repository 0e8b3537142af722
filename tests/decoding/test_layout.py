"""Layouts are exact: what the printer makes is in the grammar, other spellings of it
are not.
"""

import itertools
import json
from collections.abc import Iterator

import pytest

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.forms import PDDL, Fields, Form
from pddlego_local.decoding.grammars.lark_text import accepts, decoder_verdict, load
from pddlego_local.decoding.layout import ExactLayout, Printer
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.session import place_of_departure
from tests.decoding.on_rung import constraint_for
from tests.decoding.recorded import rows
from tests.decoding.test_typed import DOMAIN, PROBLEM_FILE, SCENE
from tests.grammars.cases import cases, data_folder

EXACT: tuple[ExactLayout, ...] = ("line", "lines")
DATA = data_folder()

MESSY = """ (DEFINE ; a house
 (Domain House)(:TYPES a  B - object)
 (:Functions (Total-Cost) - NUMBER)
 (:predicates (At ?x - B)( done ) (big ?y - (EITHER a B)))
 (:Action Go :Parameters(?X - B ?y - a):precondition(AND (At ?X)(NOT(done)))
   :EFFECT (and (FORALL (?z - B)(When (At ?z) (not (At ?z)))) (Increase
   (TOTAL-COST) 1))))"""
LINE = (
    "(define (domain House) (:types a B - object) (:functions (total-cost) - number)"
    " (:predicates (At ?x - B) (done) (big ?y - (either a B))) (:action Go :parameters"
    " (?X - B ?y - a) :precondition (and (At ?X) (not (done))) :effect (and (forall (?z"
    " - B) (when (At ?z) (not (At ?z)))) (increase (total-cost) 1))))"
)
LINES = """(define (domain House)
  (:types a B - object)
  (:functions
    (total-cost) - number)
  (:predicates
    (At ?x - B)
    (done)
    (big ?y - (either a B)))
  (:action Go
    :parameters (?X - B ?y - a)
    :precondition (and (At ?X) (not (done)))
    :effect (and (forall (?z - B) (when (At ?z) (not (At ?z)))) (increase \
(total-cost) 1))))"""


def test_what_carries_no_meaning_is_printed_in_one_way() -> None:
    assert Printer("line").file(MESSY) == LINE.replace(
        "(total-cost) -", "(Total-Cost) -", 1
    )
    assert Printer("lines").file(MESSY) == LINES.replace(
        "(total-cost) -", "(Total-Cost) -", 1
    )


def test_told_actions_and_tight_sections_are_printed_as_the_prompt_has_them() -> None:
    told = [Action("go", "(?X ?y - b)", "")]
    grouped = (
        "(define (domain d) (:requirements :adl) (:action GO :parameters (?X - B ?y -"
        " b)))"
    )
    assert (
        Printer("line", told, as_staged=True).file(grouped)
        == "(define (domain d) (:requirements :strips :typing) (:types) "
        "(:action go :parameters (?X ?y - b)))"
    )
    other = grouped.replace("?y - b", "?y - a")
    assert ":action GO :parameters (?X - B ?y - a)" in Printer("line", told).file(other)
    lists = (
        "(define (domain d) (:predicates (p)) (:functions) (:constants a - t)"
        " (:types t))"
    )
    assert (
        Printer("line", as_staged=True).file(lists)
        == "(define (domain d) (:requirements :strips :typing) (:types t) (:constants a"
        " - t) (:predicates (p)))"
    )
    problem = (
        "(define (problem p) (:domain d) (:requirements :adl) (:init) (:goal (and)))"
    )
    assert (
        Printer("line", as_staged=True).file(problem)
        == "(define (problem p) (:domain d) (:objects) (:init) (:goal (and)))"
    )


@pytest.mark.parametrize("text", ["", "word", "(define (domain d)", "(a) (b)", "(a))"])
def test_what_is_no_list_cannot_be_printed(text: str) -> None:
    with pytest.raises(ValueError):
        Printer("line").file(text)


def answers() -> Iterator[dict[str, str]]:
    """The accept lists' domains and problems, and every 200th recorded pair that can be
    read.
    """
    domains = [case.text for case in cases("domain", "accept")]
    problems = [case.text for case in cases("problem", "accept")]
    for domain, problem in itertools.zip_longest(domains, problems):
        yield {"df": domain or domains[0], "pf": problem or problems[0]}
    for row in (
        rows(DATA / "llm_pddl" / "open_weight_dev.jsonl.xz", 200) if DATA else ()
    ):
        yield {"df": row["domain"], "pf": row["problem"]}


@pytest.mark.parametrize("layout", EXACT)
def test_the_syntax_of_a_layout_is_what_its_printer_makes(layout: ExactLayout) -> None:
    """Of an answer in the language of "any"; printed again it is the same; both readers
    agree.
    """
    printer, inside = Printer(layout), 0
    for answer in answers():
        try:
            text = printer.answer(answer)
        except ValueError:
            continue
        assert printer.answer(json.loads(text)) == text
        grammar = load("syntax", layout)
        accepted = accepts(grammar, text)
        assert (decoder_verdict(grammar, text) == "accepted") is accepted
        if accepts(load("syntax"), json.dumps(answer)):
            inside += 1
            assert accepted, text
    assert inside > (40 if DATA else 20)


def spoilt(text: str, layout: ExactLayout) -> Iterator[str]:
    """The same said otherwise: blanks more and less, capitals, comments, JSON without
    blanks.
    """
    yield text.replace(": ", ":")
    yield text.replace(", ", ",")
    yield text.replace(" (", "  (", 1)
    yield text.replace(" (", "(", 1)
    yield text.replace("(define", "( define")
    yield text.replace(":init", ":INIT")
    yield text.replace("(and", "(AND")
    yield text.replace(")", " )", 1)
    yield text.replace(" - ", " -  ", 1)
    yield text.replace("(:init", "; facts\\n(:init")
    yield text.replace(" (:goal" if layout == "line" else "\\n  (:goal", "\\n(:goal")
    if layout == "lines":
        yield text.replace("\\n    (", " (", 1)


@pytest.mark.parametrize("layout", EXACT)
@pytest.mark.parametrize("rung", tuple(RUNGS)[2:])
def test_given_what_is_said_no_character_is_free(
    rung: str, layout: ExactLayout
) -> None:
    printer = Printer(layout, SCENE.actions, as_staged=rung in ("typed", "grounded"))
    text = printer.answer({"df": DOMAIN, "pf": PROBLEM_FILE})
    assert departs(rung, PDDL, text, layout) == ""
    for other in spoilt(text, layout):
        assert other != text
        assert departs(rung, PDDL, other, layout), other


def departs(rung: str, form: Form[Fields], text: str, layout: ExactLayout) -> str:
    return place_of_departure(constraint_for(rung, form, SCENE, layout), text)
