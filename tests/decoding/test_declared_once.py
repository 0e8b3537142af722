"""One name is declared as one thing, wherever an answer was rewritten after the model
wrote it.
"""

from dataclasses import replace

import pytest

from pddlego_local.core.nouns import Completion, Names, Prefix, Sampling
from pddlego_local.decoding.forms import DOMAIN as DOMAIN_ALONE
from pddlego_local.decoding.forms import (
    PDDL,
    PROBLEM,
    DomainFile,
    Fields,
    Pddl,
    Problem,
)
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.membership import why_outside
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Question
from pddlego_local.episode.drawing import draw_one
from pddlego_local.episode.reading.answer import (
    Answer,
    read_constrained,
    without_repetition,
)
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import objects_of
from pddlego_local.planner import FastDownward
from tests.decoding import test_typed
from tests.episode.drawing import RandomLogits, Request

DOMAIN = """(define (domain d) (:requirements :strips :typing) (:types t u)
  (:constants c - u)
  (:predicates (p ?x - t)) (:action a :parameters (?x - t) :effect (p ?x)))"""
UNTYPED = DOMAIN.replace("c - u", "c")
GOAL = " (:init) (:goal (and)))"


class Beginning(RandomLogits):
    """Writes these texts first; whatever else is asked for is random."""

    def __init__(self, seed: int, *texts: str) -> None:
        super().__init__(seed)
        self.left = list(texts)

    def answer_to(self, asked: Request) -> Completion:
        if not self.left:
            return super().answer_to(asked)
        text = self.left.pop(0)
        assert asked.prefix and decoder_verdict(asked.grammar, text) == "accepted", text
        continued = Prefix(asked.prefix.continued + text)
        return Completion(text, "stop", 1, 1, 0.0, prefix=continued)


# The objects as the model wrote them, and those that the answer has in the end: no fact
# could be written, so an object of type `t` was added or has replaced another one.
REWRITTEN = {
    "a constant without a type, and a name is left": (UNTYPED, "c", "c a", {"a"}),
    "a constant in a group, and a name is left": (
        UNTYPED,
        "b - u c",
        "a b c",
        {"a", "b"},
    ),
    "a constant before the object that is replaced": (UNTYPED, "c a", "a c", {"a"}),
    "a typed constant before it": (DOMAIN, "c a - u", "a c", {"a"}),
    "a constant behind it": (DOMAIN, "a - u c - u", "a c", {"a"}),
    "the object again behind it": (DOMAIN, "a b a - u", "a b", {"a", "b"}),
    "an object again, and a name is left": (
        DOMAIN,
        "b b - object b",
        "a b",
        {"a", "b"},
    ),
    "constants alone": (DOMAIN, "c - u c - u", "c", set()),
}


@pytest.mark.parametrize("layout", ["any", "line"])
@pytest.mark.parametrize("case", REWRITTEN)
def test_an_object_that_is_added_changes_no_type_of_another(
    case: str, layout: Layout
) -> None:
    domain, objects, names, expected = REWRITTEN[case]
    context = GrammarContext(
        domain=domain, goal="unmet", names=Names(tuple(names.split()))
    )
    question = Question(PROBLEM, (), context)
    opening = "" if layout == "line" else '{"pf": "(define (problem'
    texts = [f"{opening} p) (:domain d) (:objects {objects})", GOAL + '"}']
    if layout == "line":
        texts[1] = texts[1].removeprefix(" (:init")
    types = set()
    for seed in range(6):
        model = Beginning(seed, *texts)
        constraint = constraint_for("grounded", PROBLEM, context, layout)
        drawn = draw_one(
            model, (), constraint, Sampling(max_tokens=2000, seed=seed), {}
        )
        answer = without_repetition(
            read_constrained(drawn.completion, PROBLEM), question
        ).value
        assert answer and not model.left
        verdict = check(domain, answer.pf)
        assert verdict.accepted, (answer.pf, verdict.faults)
        declared = objects_of(answer.pf)
        assert set(declared) == expected
        types |= set(declared.values())
    assert "t" in types or not expected


# One change to the house, and who accepts it: a rung as it stands, and without what it
# says twice.
SAID_TWICE = {
    "an object": ("hall cellar - room", "hall cellar hall - room", False, True),
    "an object in capitals": (
        "hall cellar - room",
        "hall cellar HALL - room",
        False,
        True,
    ),
    "an object of two types": (
        "candle - lamp",
        "candle - lamp hall - way",
        False,
        False,
    ),
    "an object with and without a type": (
        "candle - lamp",
        "candle - lamp hall",
        False,
        False,
    ),
    "a constant": ("torch - lamp)", "torch torch - lamp)", False, True),
    "a constant of two types": (
        "torch - lamp)",
        "torch - lamp torch - room)",
        False,
        False,
    ),
    "a constant as an object": ("candle - lamp", "candle torch - lamp", False, True),
    "a constant as an object in capitals": (
        "candle - lamp",
        "candle Torch - lamp",
        False,
        True,
    ),
    "a constant as an object of another type": (
        "candle - lamp",
        "candle - lamp torch - room",
        False,
        False,
    ),
    "a constant as an object of no type": (
        "candle - lamp",
        "candle - lamp torch",
        False,
        False,
    ),
    "a type": ("(:types room", "(:types room - object room", True, True),
    "a type with two supertypes": (
        "(:types room",
        "(:types room - thing room",
        False,
        False,
    ),
    "a predicate": ("(done)", "(done) (done)", True, True),
    "a predicate with other parameters": (
        "(done)",
        "(done) (done ?r - room)",
        False,
        False,
    ),
    "a fact": ("(at hall)", "(at hall) (at hall)", True, True),
    "a name of a type and a predicate": (
        "hall cellar",
        "hall cellar room at",
        True,
        True,
    ),
}


@pytest.mark.parametrize("case", SAID_TWICE)
def test_a_rung_accepts_a_name_twice_only_if_the_planner_reads_it_once(
    case: str, planner: FastDownward
) -> None:
    old, new, as_it_stands, once = SAID_TWICE[case]
    house = test_typed.DOMAIN + test_typed.PROBLEM_FILE
    assert house.count(old) >= 1
    files = Pddl(
        df=test_typed.DOMAIN.replace(old, new, 1),
        pf=test_typed.PROBLEM_FILE.replace(old, new, 1),
    )
    question = Question(PDDL, (), test_typed.SCENE)
    dropped = without_repetition(Answer(files, ""), question).value
    assert dropped
    for value, inside in ((files, as_it_stands), (dropped, once)):
        assert bool(why_outside(value, question, "typed")) is not inside
        if inside:
            assert planner.plan(value.df, value.pf).outcome == "solved"


@pytest.mark.parametrize("case", SAID_TWICE)
def test_one_file_alone_is_judged_by_what_it_declares(case: str) -> None:
    """Beside a given domain the problem is at fault, and a domain alone for its own
    constants.
    """
    old, new, as_it_stands, _ = SAID_TWICE[case]
    if old in test_typed.PROBLEM_FILE and old not in test_typed.DOMAIN:
        context = replace(test_typed.SCENE, domain=test_typed.DOMAIN)
        alone: Fields = Problem(pf=test_typed.PROBLEM_FILE.replace(old, new, 1))
        asked: AnyQuestion = Question(PROBLEM, (), context)
    else:
        alone = DomainFile(df=test_typed.DOMAIN.replace(old, new))
        asked = Question(DOMAIN_ALONE, (), test_typed.SCENE)
    assert bool(why_outside(alone, asked, "typed")) is not as_it_stands
