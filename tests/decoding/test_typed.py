"""The rungs "typed" and "grounded" by accept and reject lists: one small house, one change each."""

import json
from dataclasses import replace

import pytest

from pddlego_local.core.nouns import Action, Names
from pddlego_local.decoding.forms import PDDL, PROBLEM
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Layout, Printer
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward

LAYOUTS: tuple[Layout, ...] = ("any", "line", "lines")
DOMAIN = """(define (domain house)
  (:requirements :strips :typing)
  (:types room way - object thing - object lamp - thing)
  (:constants torch - lamp)
  (:predicates (at ?r - room) (next ?a ?b - room ?w - way) (has ?t - thing) (lit ?l - lamp) (done))
  (:action go
    :parameters (?from - room ?to - room ?dir - way)
    :precondition (and (at ?from) (next ?from ?to ?dir))
    :effect (and (not (at ?from)) (at ?to)))
  (:action light
    :parameters (?l - lamp)
    :precondition (and (has ?l) (not (lit ?l)))
    :effect (lit ?l)))"""
PROBLEM_FILE = """(define (problem now)
  (:domain house)
  (:objects hall cellar - room up - way candle - lamp)
  (:init (at hall) (next hall cellar up) (has candle))
  (:goal (at cellar)))"""
SCENE = GrammarContext(
    actions=(
        Action("go", "(?from - room ?to - room ?dir - way)", "go {dir}"),
        Action("light", "(?l - lamp)", "light {l}"),
    ),
    names=Names(objects=("hall", "cellar", "up", "candle", "torch")),
)


def departure(
    domain: str,
    problem: str,
    rung: str = "typed",
    context: GrammarContext = SCENE,
    layout: Layout = "any",
) -> str:
    """Where the two files leave the language: as they are, or printed in an exact layout."""
    staged = constraint_for(rung, PDDL, context, layout)
    assert staged.in_stages
    answer = {"df": domain, "pf": problem}
    if layout == "any":
        return place_of_departure(staged, json.dumps(answer))
    printer = Printer(layout, context.actions, tight=rung != "signatures")
    return place_of_departure(staged, printer.answer(answer))


def changed(old: str, new: str) -> tuple[str, str]:
    """The house with one piece of text replaced, wherever it stands."""
    assert old in DOMAIN + PROBLEM_FILE
    return DOMAIN.replace(old, new), PROBLEM_FILE.replace(old, new)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_house_itself_is_in_both_languages(layout: Layout) -> None:
    assert departure(DOMAIN, PROBLEM_FILE, layout=layout) == ""
    for goal in ("any", "unmet"):
        context = replace(SCENE, goal=goal)
        assert departure(DOMAIN, PROBLEM_FILE, "grounded", context, layout) == ""


# What the printer does away with: under "any" the same is outside.
PRINTED_OTHERWISE = {
    "no requirements": ("(:requirements :strips :typing)\n", ""),
    "other requirements": (":strips :typing", ":typing :negative-preconditions"),
    "requirements after types": (
        "(:requirements :strips :typing)\n  (:types room way - object thing - object lamp - thing)",
        "(:types room way - object thing - object lamp - thing) (:requirements :strips)",
    ),
    "requirements of a problem": ("(:objects", "(:requirements :strips)\n  (:objects"),
    "a comment where none may stand": ("(:action light", "; now\n (:action light"),
}


ACCEPTED = {
    "a type more": ("lamp - thing)", "lamp - thing door)"),
    "no constants": ("(:constants torch - lamp)\n", ""),
    "comments in lists": ("cellar - room", "cellar - room ; what is\n  ; there\n"),
    "a comment among facts": ("(has candle)", "; in the hand\n (has candle)"),
    "parameters joined": ("?from - room ?to - room", "?from ?to - room"),
    "name of an action in capitals": ("(:action go", "(:action GO"),
    "no precondition": (":precondition (and (has ?l) (not (lit ?l)))\n", ""),
    "empty precondition": ("(and (has ?l) (not (lit ?l)))", "()"),
    "a constant in a body": ("(and (has ?l)", "(and (lit torch) (has ?l)"),
    "disjunction": ("(and (has ?l) (not (lit ?l)))", "(or (has ?l) (not (lit ?l)))"),
    "implication": ("(and (has ?l) (not (lit ?l)))", "(imply (has ?l) (lit torch))"),
    "equality": ("(and (has ?l)", "(and (not (= ?l torch)) (has ?l)"),
    "a subtype as argument": ("(and (has ?l)", "(and (has torch) (has ?l)"),
    "exists": ("(and (has ?l)", "(and (exists (?r - room) (at ?r)) (has ?l)"),
    "quantifiers nested": (
        "(and (has ?l)",
        "(and (exists (?r - room) (forall (?s - room) (imply (at ?s) (at ?r)))) (has ?l)",
    ),
    "forall in an effect": (
        "(and (not (at ?from)) (at ?to))",
        "(and (forall (?r - room) (when (next ?r ?to ?dir) (not (at ?r)))) (at ?to))",
    ),
    "when": (":effect (lit ?l)", ":effect (when (has ?l) (and (lit ?l) (done)))"),
    "another order of actions": (
        DOMAIN[DOMAIN.index("(:action go") : DOMAIN.index("(:action light")],
        "",
    ),
    "constants only": ("(:objects hall cellar - room up - way candle - lamp)", "(:objects)"),
    "an object of no type": ("candle - lamp)", "candle - lamp box)"),
    "no facts": ("(:init (at hall) (next hall cellar up) (has candle))", "(:init)"),
    "goal with or": ("(:goal (at cellar))", "(:goal (or (at cellar) (lit candle)))"),
    "goal with not": ("(:goal (at cellar))", "(:goal (and (not (at hall)) (done)))"),
    "goal with exists": ("(:goal (at cellar))", "(:goal (exists (?r - room) (at ?r)))"),
    "a type named as a keyword": ("lamp - thing)", "lamp - thing Forall)"),
    "a type named as a section": ("lamp - thing)", "lamp - thing types)"),
    "a type named as an action": ("lamp - thing)", "lamp - thing light)"),
    "a predicate named as a type": ("(done)", "(Room)"),
    "a predicate named as an action": ("(done)", "(go)"),
    "a predicate named as a section": ("(done)", "(precondition)"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    domain, problem = changed(*ACCEPTED[name])
    if name == "constants only":
        problem = problem.replace("(at hall) (next hall cellar up) (has candle)", "(has torch)")
        problem = problem.replace("(at cellar)", "(lit torch)")
    for layout in LAYOUTS:
        assert departure(domain, problem, layout=layout) == "", layout
    assert check(domain, problem).accepted


@pytest.mark.parametrize("name", PRINTED_OTHERWISE)
def test_accepted_when_printed(name: str) -> None:
    domain, problem = changed(*PRINTED_OTHERWISE[name])
    assert departure(domain, problem)
    assert departure(domain, problem, layout="line") == ""
    assert departure(domain, problem, layout="lines") == ""


REJECTED = {
    "an action that there is not": ("(:action go", "(:action walk"),
    "other variables": ("?from", "?here"),
    "a parameter more": ("?dir - way)\n", "?dir - way ?l - lamp)\n"),
    "a parameter of another type": ("(?l - lamp)", "(?l - thing)"),
    "another name of the domain": ("(:domain house)", "(:domain home)"),
    "a type that is declared nowhere": ("(done))", "(done) (open ?d - door))"),
    "undeclared predicate in a body": (":effect (lit ?l)", ":effect (burning ?l)"),
    "undeclared predicate in :init": ("(has candle)", "(holding candle)"),
    "undeclared predicate in the goal": ("(:goal (at cellar))", "(:goal (in cellar))"),
    "undeclared variable": (":effect (lit ?l)", ":effect (lit ?lamp)"),
    "a variable without its ?": (":effect (lit ?l)", ":effect (lit l)"),
    "a variable of another action": (":effect (lit ?l)", ":effect (and (lit ?l) (at ?to))"),
    "an object in a body": (":effect (lit ?l)", ":effect (lit candle)"),
    "undeclared object in :init": ("(at hall)", "(at attic)"),
    "undeclared object in the goal": ("(:goal (at cellar))", "(:goal (at attic))"),
    "too many arguments": ("(at hall)", "(at hall cellar)"),
    "too few arguments": ("(next hall cellar up)", "(next hall cellar)"),
    "an argument of another type": ("(at hall)", "(at up)"),
    "a supertype as argument": (
        "(done))",
        "(done) (odd ?t - thing))\n  (:action light :parameters (?l - lamp) :effect (lit ?t)",
    ),
    "arguments in another order": ("(next hall cellar up)", "(next up hall cellar)"),
    "a quantified variable out of its scope": (
        "(and (has ?l)",
        "(and (exists (?r - room) (at ?r)) (at ?r) (has ?l)",
    ),
    "a quantified variable of another type": (
        "(and (has ?l)",
        "(and (exists (?r - room) (has ?r)) (has ?l)",
    ),
    "negated fact": ("(has candle)", "(not (has candle))"),
    "a type twice": ("lamp - thing)", "lamp - thing room)"),
    "a predicate twice": ("(done))", "(done) (At ?r - room))"),
    "an action twice": ("(:action light", "(:action go"),
    "a constant twice": ("torch - lamp", "torch - lamp Torch - lamp"),
    "an object twice": ("candle - lamp)", "candle hall - lamp)"),
    "an object that is a constant": ("candle - lamp)", "candle torch - lamp)"),
    "no effect": (":effect (lit ?l)", ":effect (and)"),
    "no action": (DOMAIN[DOMAIN.index("(:action") : -1], ""),
    "a type of the actions missing": ("room way - object", "room - object"),
    "either": ("(has ?t - thing)", "(has ?t - (either thing room))"),
    "an operator as predicate": ("(done)", "(When)"),
    "object of an undeclared type": ("candle - lamp)", "candle - light)"),
    "no goal": ("(:goal (at cellar))", ""),
    "a type that is a number": ("lamp - thing)", "lamp - thing Number)"),
    "a parameter twice": ("(next ?a ?b - room", "(next ?a ?A - room"),
    "a fact twice": ("(has candle)", "(has candle) (at HALL)"),
    "a condition twice": ("(and (has ?l)", "(and (has ?l) (has ?l)"),
    "a denial twice": ("(and (has ?l)", "(and (not (lit ?l)) (has ?l)"),
    "an implication twice": (
        "(and (has ?l)",
        "(and (imply (done) (done)) (has ?l) (imply (done) (done))",
    ),
    "an effect twice": (":effect (lit ?l)", ":effect (and (lit ?l) (done) (lit ?l))"),
    "an alternative twice": ("(:goal (at cellar))", "(:goal (or (at cellar) (at cellar)))"),
    "a conjunct of the goal twice": ("(:goal (at cellar))", "(:goal (and (done) (done)))"),
    "a name of 41 letters": ("cellar", "c" + "abcdefgh" * 5),
    "a name that runs in circles": ("cellar", "none-of-none-of-none-of-cellar"),
    "a type that runs in circles": ("lamp - thing)", "lamp - thing aaaa)"),
    "a parameter that runs in circles": ("(has ?t -", "(has ?t_of_of_of -"),
    "the name of the problem runs in circles": ("(problem now)", "(problem no-no-no-no)"),
    "no predicate with parameters": (
        DOMAIN[DOMAIN.index("(:predicates") : DOMAIN.index("(:action")],
        "(:predicates (done) (ready))",
    ),
    "21 predicates": ("(done)", " ".join(f"(done{number})" for number in range(17))),
    "13 types": ("lamp - thing)", f"lamp - thing {' '.join(f't{n}' for n in range(9))})"),
    "7 parameters": ("(has ?t - thing)", "(has ?t1 ?t2 ?t3 ?t4 ?t5 ?t6 ?t7 - thing)"),
    "one bracket less": ("(:goal (at cellar)))", "(:goal (at cellar))"),
    "one bracket more": ("(:goal (at cellar)))", "(:goal (at cellar))))"),
}


UNREADABLE = ("one bracket less", "one bracket more", "a supertype as argument")
"""What has no structure that could be printed."""


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str) -> None:
    pair = changed(*REJECTED[name])
    assert departure(*pair)
    if name not in UNREADABLE:
        assert departure(*pair, layout="line")
        assert departure(*pair, layout="lines")


GROUNDED = {
    "an object that nobody mentioned": ("candle - lamp)", "candle attic - lamp)"),
    "a constant that nobody mentioned": ("torch - lamp", "torch match - lamp"),
}


@pytest.mark.parametrize("name", GROUNDED)
def test_only_grounded_rejects(name: str) -> None:
    pair = changed(*GROUNDED[name])
    for layout in LAYOUTS:
        assert departure(*pair, layout=layout) == ""
        assert departure(*pair, "grounded", layout=layout)


WRONG_SIGNATURES = (
    "an action that there is not",
    "other variables",
    "a parameter more",
    "a parameter of another type",
    "another name of the domain",
)


def test_signatures_are_a_rung_of_their_own() -> None:
    """The environment's actions exactly, whatever else is declared or not."""
    for layout in LAYOUTS:
        for name in ACCEPTED.keys() - {"constants only"}:
            assert departure(*changed(*ACCEPTED[name]), "signatures", layout=layout) == "", name
        for name in WRONG_SIGNATURES:
            assert departure(*changed(*REJECTED[name]), "signatures", layout=layout), name
        for name in ("undeclared predicate in a body", "too many arguments", "a type twice"):
            assert departure(*changed(*REJECTED[name]), "signatures", layout=layout) == "", name
    staged = constraint_for("signatures", PROBLEM, replace(SCENE, domain=DOMAIN))
    assert staged.in_stages
    assert place_of_departure(staged, json.dumps({"pf": PROBLEM_FILE})) == ""
    other = PROBLEM_FILE.replace("(:domain house)", "(:domain home)")
    assert place_of_departure(staged, json.dumps({"pf": other}))


def test_a_problem_alone_is_typed_by_the_given_domain() -> None:
    context = replace(SCENE, domain=DOMAIN)
    staged = constraint_for("typed", PROBLEM, context)
    assert staged.in_stages
    assert place_of_departure(staged, json.dumps({"pf": PROBLEM_FILE})) == ""
    for old, new in (
        ("(at hall)", "(at up)"),
        ("house", "home"),
        ("candle -", "torch -"),
        ("(at hall)", "(in hall)"),
    ):
        assert place_of_departure(staged, json.dumps({"pf": PROBLEM_FILE.replace(old, new)}))


def test_what_is_accepted_the_planner_accepts() -> None:
    with FastDownward() as planner:
        for name in ACCEPTED.keys() - {"constants only"}:
            outcome = planner.plan(*changed(*ACCEPTED[name])).outcome
            assert outcome in ("solved", "unsolvable", "goal_already_true"), name
