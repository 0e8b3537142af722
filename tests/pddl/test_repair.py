"""Mending by the knowledge of a rung: the accept and reject lists of the rung itself,
one offence each, and the planner's word on what comes of them.
"""

import pytest

from pddlego_local.pddl.check import check
from pddlego_local.pddl.repair import Knowledge, repair
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


LIGHT = (
    "(:action light :parameters (?l - lamp) :precondition (and (has ?l) (not (lit ?l)))"
)
NEXT = "(next hall cellar up)"

MENDED: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    # facts
    "undeclared object": (
        [("(at hall)", "(at attic)")],
        ["problem: left out (at attic)"],
    ),
    "undeclared predicate": (
        [("(has c", "(holds c")],
        ["problem: left out (holds candle)"],
    ),
    "too many arguments": (
        [("(at hall)", "(at hall up)")],
        ["problem: left out (at hall up)"],
    ),
    "too few": ([(NEXT, "(next hall up)")], ["problem: left out (next hall up)"]),
    "wrong type": ([("(at hall)", "(at up)")], ["problem: left out (at up)"]),
    "denied": (
        [("(has candle)", "(not (lit candle))")],
        ["problem: left out (not (lit candle))"],
    ),
    "denied, then said": (
        [("(has candle)", "(not (has candle)) (has candle)")],
        ["problem: left out (not (has candle))"],
    ),
    "hyphens": ([(NEXT, "(next hall cel-lar up)")], ["problem: cel-lar became cellar"]),
    "underscores in a predicate": (
        [("(has c", "(h_as c")],
        ["problem: h_as became has"],
    ),
    "two offences in a fact": (
        [(NEXT, "(next attic cel-lar up)")],
        ["problem: cel-lar became cellar", "problem: left out (next attic cellar up)"],
    ),
    # of two that read the same, one has the right type
    "the same name of another type": (
        [
            (
                "hall cellar - room up - way",
                "hall cellar - room up u_p - way u-p - room",
            ),
            ("(at hall)", "(at u--p)"),
        ],
        ["problem: u--p became u-p"],
    ),
    "two that read the same": (
        [("up - way", "up u_p u-p - way"), (NEXT, "(next hall cellar u--p)")],
        ["problem: left out (next hall cellar u--p)"],
    ),
    # names
    "object of an unknown type": (
        [("candle - lamp)", "candle - light)")],
        ["problem: left out candle - light", "problem: left out (has candle)"],
    ),
    "a type that reads like another": (
        [("candle - lamp)", "candle - La_mp)")],
        ["problem: La_mp became lamp"],
    ),
    "an object twice": (
        [("candle - lamp)", "candle up - lamp)")],
        ["problem: left out up"],
    ),
    "a predicate twice": ([("(done)", "(done) (has)")], ["domain: left out (has)"]),
    "another domain": (
        [("(:domain house)", "(:domain b)")],
        ["problem: b became house"],
    ),
    # actions
    "a misspelled predicate": (
        [(":effect (lit", ":effect (l-it")],
        ["domain: l-it became lit"],
    ),
    "an unknown predicate in an `and`": (
        [("(not (at ?from))", "(left ?from)")],
        ["domain: left out (left ?from)"],
    ),
    "a precondition": (
        [("(and (has ?l) (not (lit ?l)))", "(not (dark ?l))")],
        ["domain: left out (not (dark ?l))"],
    ),
    "an effect": (
        [(":effect (lit ?l)", ":effect (burns ?l)")],
        [f"domain: left out {LIGHT} :effect (burns ?l))"],
    ),
    "no variable": ([(":effect (lit ?l)", ":effect (lit l)")], ["domain: l became ?l"]),
    "an action's name": (
        [("(:action light", "(:action Li_ght")],
        ["domain: Li_ght became light"],
    ),
    "an action of the model's": (
        [("(:action light", "(:action burn")],
        [f"domain: left out {LIGHT.replace('light', 'burn')} :effect (lit ?l))"],
    ),
    "other variables": (
        [("?l", "?x"), ("(lit ?x - lamp)", "(lit ?l - lamp)")],
        ["domain: the parameters of light became (?l - lamp)"],
    ),
    "variables in another order": (
        [
            (
                "(?from - room ?to - room ?dir - way)",
                "(?to - room ?dir - way ?from - room)",
            )
        ],
        ["domain: the parameters of go became (?from - room ?to - room ?dir - way)"],
    ),
    "a parameter more": (
        [("(?l - lamp)", "(?l - lamp ?r - room)")],
        [
            (
                f"domain: left out {LIGHT.replace('lamp', 'lamp ?r - room')} :effect "
                f"(lit ?l))"
            )
        ],
    ),
    # the goal
    "a name in the goal": ([("(:goal (at", "(:goal (a-t")], ["problem: a-t became at"]),
    "a part of the goal": (
        [("(:goal (at cellar))", "(:goal (and (at cellar) (at attic)))")],
        ["problem: left out (at attic)"],
    ),
    # structure
    "a word between sections": ([("(:init", "now (:init")], ["problem: left out now"]),
    "a section of the other file": (
        [("(:init", "(:types a) (:init")],
        ["problem: left out (:types a)"],
    ),
    "a requirement": ([(":typing", "typing")], ["domain: typing became :typing"]),
    "an empty fact": ([("(at hall)", "(at hall) ()")], ["problem: left out ()"]),
}


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
    pair = house(("(has candle)", "; what is\n (has candle) (at attic) ; nowhere\n"))
    assert repair(*pair, TYPED)[:2] == (DOMAIN, pair[1].replace(" (at attic)", ""))


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
    [
        ("(:goal (at cellar))", "(:goal (at attic))"),
        ("(:goal (at cellar))", "(:goal (and (in cellar)))"),
        ("(:goal (at cellar))", ""),
        ("(:goal (at cellar)))", "(:goal (at cellar))"),
        ("(define (domain house)", "(define (domain)"),
    ],
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


def test_a_given_domain_stays() -> None:
    """Its own actions, and its own faults; the problem is mended by what it
    declares.
    """
    pair = house((":effect (lit ?l)", ":effect (l-it ?l)"), ("(at hall)", "(at attic)"))
    mended = repair(*pair, GIVEN)
    assert mended.domain == pair[0]
    assert mended.changes == ("problem: left out (at attic)",)
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


def test_facts_with_undeclared_objects_are_left_out(planner: FastDownward) -> None:
    facts = [f"(at a{n}) (next hall b{n} up) (has candle)" for n in range(50)]
    pair = one_change("(at hall)", f"(at hall) {''.join(facts)}")
    assert planner.plan(*pair).outcome == "translate_error"
    domain, problem, changes = repair(*pair, TYPED)
    assert planner.plan(domain, problem).outcome == "solved"
    assert len(changes) == 2 * len(facts)


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
