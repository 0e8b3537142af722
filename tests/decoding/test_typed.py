"""The rungs "typed" and "grounded" by accept and reject lists: one small house, one
change each.
"""

import json
from dataclasses import replace
from typing import Any

import pytest

from pddlego_local.core.nouns import Action, Names
from pddlego_local.decoding.forms import PDDL, PROBLEM
from pddlego_local.decoding.layout import Layout, Printer
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.pddl.check import check
from pddlego_local.pddl.sections import (
    domain_without_repetition,
    problem_without_repetition,
)
from tests.decoding.on_rung import constraint_for
from tests.tables import table

LAYOUTS: tuple[Layout, ...] = ("any", "line", "lines")
CASES = table(__file__, "house")
DOMAIN, PROBLEM_FILE = CASES["domain"], CASES["problem"]
ACCEPTED, REJECTED, GROUNDED = CASES["accepted"], CASES["rejected"], CASES["grounded"]
REDUNDANT = CASES["redundant"]
PRINTED_OTHERWISE = CASES["printed_otherwise"]
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
    **options: Any,
) -> str:
    """Where the two files leave the language: as they are, or printed in an exact
    layout.
    """
    staged = constraint_for(rung, PDDL, context, layout, **options)
    answer = {"df": domain, "pf": problem}
    if layout == "any":
        return place_of_departure(staged, json.dumps(answer))
    printer = Printer(layout, context.actions, as_staged=rung != "signatures")
    return place_of_departure(staged, printer.answer(answer))


def changed(old: str, new: str) -> tuple[str, str]:
    """The house with one piece of text replaced, wherever it stands."""
    assert old in DOMAIN + PROBLEM_FILE
    return DOMAIN.replace(old, new), PROBLEM_FILE.replace(old, new)


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    domain, problem = changed(*ACCEPTED[name])
    if name == "constants only":
        problem = problem.replace(
            "(at hall) (next hall cellar up) (has candle)", "(has torch)"
        )
        problem = problem.replace("(at cellar)", "(lit torch)")
    for layout in LAYOUTS:
        assert departure(domain, problem, layout=layout) == "", layout
    assert check(domain, problem).accepted


@pytest.mark.parametrize("name", REDUNDANT)
def test_what_is_redundant_is_accepted_and_dropped(name: str) -> None:
    domain, problem = changed(*REDUNDANT[name])
    for layout in LAYOUTS:
        assert departure(domain, problem, layout=layout) == "", layout
    once, _ = domain_without_repetition(domain)
    assert check(once, problem_without_repetition(problem, once)[0]).accepted


@pytest.mark.parametrize("name", PRINTED_OTHERWISE)
def test_accepted_when_printed(name: str) -> None:
    domain, problem = changed(*PRINTED_OTHERWISE[name])
    assert departure(domain, problem)
    assert departure(domain, problem, layout="line") == ""
    assert departure(domain, problem, layout="lines") == ""


UNREADABLE = ("one bracket less", "one bracket more", "a supertype as argument")
"""What has no structure that could be printed."""


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str) -> None:
    pair = changed(*REJECTED[name])
    assert departure(*pair)
    if name not in UNREADABLE:
        assert departure(*pair, layout="line")
        assert departure(*pair, layout="lines")


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
            assert (
                departure(*changed(*ACCEPTED[name]), "signatures", layout=layout) == ""
            ), name
        for name in WRONG_SIGNATURES:
            assert departure(*changed(*REJECTED[name]), "signatures", layout=layout), (
                name
            )
        for name in ("undeclared predicate in a body", "too many arguments"):
            assert (
                departure(*changed(*REJECTED[name]), "signatures", layout=layout) == ""
            ), name
    staged = constraint_for("signatures", PROBLEM, replace(SCENE, domain=DOMAIN))
    assert place_of_departure(staged, json.dumps({"pf": PROBLEM_FILE})) == ""
    other = PROBLEM_FILE.replace("(:domain house)", "(:domain home)")
    assert place_of_departure(staged, json.dumps({"pf": other}))


def test_a_problem_alone_is_typed_by_the_given_domain() -> None:
    context = replace(SCENE, domain=DOMAIN)
    staged = constraint_for("typed", PROBLEM, context)
    for old, new in (
        ("(at hall)", "(at up)"),
        ("house", "home"),
        ("candle -", "torch -"),
        ("(at hall)", "(in hall)"),
    ):
        assert place_of_departure(
            staged, json.dumps({"pf": PROBLEM_FILE.replace(old, new)})
        )
