"""Mending by the knowledge of a rung: the accept and reject lists of the rung itself,
one offence each, and the planner's word on what comes of them.
"""

import pytest

from pddlego_local.pddl.changes import Knowledge
from pddlego_local.pddl.check import check
from pddlego_local.pddl.repair import repair
from pddlego_local.planner import FastDownward
from tests.decoding.test_typed import (
    ACCEPTED,
    DOMAIN,
    GROUNDED,
    PROBLEM_FILE,
    REJECTED,
    SCENE,
)
from tests.decoding.test_typed import changed as one_change
from tests.tables import table

CASES = table(__file__)

SYNTAX = Knowledge()
TYPED = Knowledge(declared=True, actions=SCENE.actions)
GIVEN = Knowledge(declared=True, given=True)
SEEN = SCENE.names.objects


def grounded(*names: str) -> Knowledge:
    return Knowledge(declared=True, actions=SCENE.actions, names=names)


def house(*replaced: tuple[str, str]) -> tuple[str, str]:
    """The files of the house with pieces of text replaced."""
    files = DOMAIN, PROBLEM_FILE
    for old, new in replaced:
        assert old in files[0] + files[1]
        files = files[0].replace(old, new), files[1].replace(old, new)
    return files


NEXT = "(next hall cellar up)"

MENDED: dict[str, tuple[list[tuple[str, str]], list[str]]] = CASES["mended"]


@pytest.mark.parametrize("name", MENDED)
def test_each_offence_is_mended_for_itself(name: str, planner: FastDownward) -> None:
    replaced, changes = MENDED[name]
    domain, problem, told = repair(*house(*replaced), TYPED)
    assert list(told) == changes
    assert planner.plan(domain, problem).outcome in ("solved", "unsolvable")
    assert repair(domain, problem, TYPED).changes == ()


def test_what_is_renamed_is_the_house_again() -> None:
    """And nothing else of the text changes."""
    offences = ("hyphens", "a misspelled predicate", "no variable", "an action's name",
                "other variables", "another domain", "a requirement",
                "a name in the goal")  # fmt: skip
    for name in offences:
        assert repair(*house(*MENDED[name][0]), TYPED)[:2] == (
            DOMAIN,
            PROBLEM_FILE,
        ), name
    pair = house(("(has candle)", "; what is\n (has candle) (in attic) ; nowhere\n"))
    assert repair(*pair, TYPED)[:2] == (DOMAIN, pair[1].replace(" (in attic)", ""))


def test_what_the_rung_does_not_know_stays() -> None:
    """Of syntax no declaration, of typed nothing that the game shows."""
    declared = (
        "undeclared object",
        "wrong type",
        "hyphens",
        "a misspelled predicate",
        "an object twice",
        "an action of the model's",
        "another domain",
    )
    for name in declared:
        pair = house(*MENDED[name][0])
        assert repair(*pair, SYNTAX) == (*pair, ()), name
    for name in ("a word between sections", "a requirement", "an empty fact"):
        assert repair(*house(*MENDED[name][0]), SYNTAX).changes == tuple(
            MENDED[name][1]
        )
    for name in GROUNDED:
        pair = one_change(*GROUNDED[name])
        assert repair(*pair, TYPED).changes == ()


@pytest.mark.parametrize(
    ("old", "new"),
    CASES["what_cannot_be_mended_stays"],
)
def test_what_cannot_be_mended_stays(old: str, new: str) -> None:
    pair = one_change(old, new)
    assert repair(*pair, TYPED) == (*pair, ())


def test_a_goal_that_is_already_true_stays() -> None:
    pair = one_change("(:goal (at cellar))", "(:goal (at hall))")
    assert repair(*pair, grounded(*SEEN)) == (*pair, ())


def test_names_that_the_prompt_does_not_show() -> None:
    pair = house(
        ("candle - lamp)", "candle attic - lamp)"), ("(has candle)", "(has attic)")
    )
    told = ["problem: left out attic", "problem: left out (has attic)"]
    assert list(repair(*pair, grounded(*SEEN)).changes) == told
    pair = one_change("torch - lamp", "torch match - lamp")
    assert repair(*pair, grounded(*SEEN))[:2] == (DOMAIN, PROBLEM_FILE)
    # A name that reads like one that is shown becomes it, wherever it stands, also in
    # the goal.
    pair = one_change("cellar", "Cel_lar")
    domain, problem, changes = repair(*pair, grounded(*SEEN))
    assert (domain, problem) == (DOMAIN, PROBLEM_FILE)
    assert changes == ("problem: Cel_lar became cellar",) * 3
    # What the goal cannot do without stays: else the planner would refuse what it
    # takes.
    shown = grounded("hall", "up", "candle", "torch")
    assert repair(DOMAIN, PROBLEM_FILE, shown) == (DOMAIN, PROBLEM_FILE, ())
    # Only a name that is shown is declared, and as it is shown.
    pair = one_change("(at hall)", "(at attic)")
    assert repair(*pair, grounded(*SEEN)).changes == ("problem: left out (at attic)",)
    spelled = repair(*pair, grounded(*SEEN, "Attic"))
    assert spelled.changes == ("problem: declared Attic - room",)


def test_a_given_domain_stays() -> None:
    """Its own actions, and its own faults; the problem is mended by what it
    declares.
    """
    pair = house((":effect (lit ?l)", ":effect (l-it ?l)"), ("(at hall)", "(at attic)"))
    mended = repair(*pair, GIVEN)
    assert mended.domain == pair[0]
    assert mended.changes == ("problem: declared attic - room",)
    assert repair(*house(("(:action light", "(:action burn")), GIVEN).changes == ()


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_typed_can_write_stays(name: str) -> None:
    pair = one_change(*ACCEPTED[name])
    if name == "constants only":
        pair = (
            DOMAIN,
            (
                "(define (problem p) (:domain house) (:objects) (:init) (:goal (lit"
                " torch)))"
            ),
        )
    for knows in (SYNTAX, TYPED, GIVEN):
        assert repair(*pair, knows) == (*pair, ())


@pytest.mark.parametrize("name", REJECTED)
def test_what_the_planner_takes_it_takes_afterwards(name: str) -> None:
    pair = one_change(*REJECTED[name])
    for knows in (SYNTAX, TYPED, GIVEN, grounded(*SEEN), grounded("hall"), grounded()):
        domain, problem, _ = repair(*pair, knows)
        assert check(domain, problem).accepted or not check(*pair).accepted


def test_hostile_texts() -> None:
    deep = "(not " * 300 + "(at hall)" + ")" * 300
    for text in (
        "",
        "(",
        ")",
        "\0",
        "é",
        "(define)",
        "(define ())",
        PROBLEM_FILE * 2,
        deep,
    ):
        for pair in ((text, PROBLEM_FILE), (DOMAIN, text), (text, text)):
            assert repair(*pair, TYPED)[:2]
    for old in ("(at hall)", "(:goal (at cellar))", ":effect (lit ?l)"):
        assert repair(*one_change(old, deep), grounded("hall"))
