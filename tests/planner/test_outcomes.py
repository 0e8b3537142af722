"""Every outcome, by PDDL that provokes it, and what a model is told."""

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.pddl.check import explain
from pddlego_local.planner import FastDownward
from tests.planner.tasks import CORRIDOR, DOMAIN, problem

QUANTIFIED = "(not (exists (?r - room) (and (at ?r) (connected ?r pantry west))))"
PARITY = """(define (domain parity) (:requirements :strips)
  (:predicates (a) (b) (c) (d))
  (:action one :parameters () :precondition (and (a) (c)) :effect (and (b) (not (c))))
  (:action two :parameters () :precondition (and (a) (c)) :effect (and (d) (not
  (c)))))"""
PARITY_PROBLEM = """(define (problem p) (:domain parity) (:init (a) (c))
  (:goal (and (b) (d))))"""


def test_an_optimal_plan_in_the_spelling_of_the_pddl(planner: FastDownward) -> None:
    spelled = problem().replace("kitchen hall pantry -", "Kitchen hall PANTRY -")
    result = planner.plan(DOMAIN, spelled)
    assert result.plan == ("(Move Kitchen hall north)", "(Move hall PANTRY west)")
    assert result.outcome == "solved" and "2 actions" in result.message
    assert result.wall_time_s > 0


@pytest.mark.parametrize("goal", ["(at kitchen)", "(and)", QUANTIFIED])
def test_goal_already_true_says_so(planner: FastDownward, goal: str) -> None:
    result = planner.plan(DOMAIN, problem(goal))
    assert (result.outcome, result.plan) == ("goal_already_true", ())
    assert "already true" in result.message


def test_a_task_that_lmcut_refuses_goes_to_the_fallback(planner: FastDownward) -> None:
    """Without one the refusal is a planner fault."""
    pair = DOMAIN, problem(QUANTIFIED.replace("pantry west", "hall north"))
    assert planner.plan(*pair).plan == ("(Move kitchen hall north)",)
    with FastDownward(fallback="") as alone:
        result = alone.plan(*pair)
    assert result.outcome == "planner_fault" and "34" in result.message


@pytest.mark.parametrize(
    ("domain", "text", "reason"),
    [
        (DOMAIN, problem(init=CORRIDOR), "No relaxed solution"),
        (DOMAIN, problem("(and (at hall) (at pantry))"), "violates a mutex"),
        (PARITY, PARITY_PROBLEM, "Search terminated -- no plan exists"),
        (DOMAIN, problem("(forall (?r - room) (not (at ?r)))"), "no plan"),
    ],
    ids=["relaxed", "mutex", "searched", "fallback"],
)
def test_unsolvable(planner: FastDownward, domain: str, text: str, reason: str) -> None:
    result = planner.plan(domain, text)
    assert (result.outcome, result.plan) == ("unsolvable", ())
    assert reason in result.message


@pytest.mark.parametrize(
    ("domain", "text", "words"),
    [
        (DOMAIN[:-3], problem(), "Could not parse domain file: Missing ')'"),
        (DOMAIN, problem() + ")", "Could not parse problem file: Tokens remaining"),
        (DOMAIN, problem("(near pantry)"), "near"),
        (DOMAIN, problem("(at attic)"), "Undefined object\nGot: attic"),
        (DOMAIN, problem().replace("house", "home"), "does not match"),
        (DOMAIN, "(define (problem é) (:domain house))", "Non-ASCII"),
    ],
)
def test_a_refusal_is_told_in_fast_downwards_words(
    planner: FastDownward, domain: str, text: str, words: str
) -> None:
    result = planner.plan(domain, text)
    assert result.outcome == "translate_error"
    assert words in result.message
    assert "/" not in result.message.replace("axiom/action", "")  # no paths
    assert "Traceback" not in result.message


@pytest.mark.parametrize(
    ("domain", "text", "words"),
    [
        ("", problem(), "domain line 1"),
        (DOMAIN, "", "problem line 1"),
        (DOMAIN, problem().replace("pantry - room", "pantry - cellar"), "cellar"),
        (DOMAIN.replace("(:types room direction)", "(:types)"), problem(), "room"),
        (DOMAIN, problem("(and " * 900 + "(at hall)" + ")" * 900), "nested too deeply"),
        (
            DOMAIN,
            problem("(not " * 10_000 + "(at hall)" + ")" * 10_000),
            "nested too deeply",
        ),
    ],
    ids=[
        "empty-domain",
        "empty-problem",
        "object-type",
        "no-types",
        "nested",
        "deeply-nested",
    ],
)
def test_a_crash_is_named_and_the_static_check_explains_it(
    planner: FastDownward, domain: str, text: str, words: str
) -> None:
    result = planner.plan(domain, text)
    assert result.outcome == "translate_error"
    assert result.message.startswith("Fast Downward's translator")
    assert words in explain(domain, text, result)


@pytest.mark.parametrize(
    "junk",
    [
        "\0\x01\ud800\udfff\x7f",
        "\\n" * 50,
        "(" * 100_000,
        ")" * 1000,
        "x" * 5_000_000,
        "((" * 9,
    ],
    ids=["binary", "backslashes", "open", "close", "long", "unfinished"],
)
def test_junk_is_a_translate_error_with_a_short_printable_message(
    planner: FastDownward, junk: str
) -> None:
    for pair in ((junk, problem()), (DOMAIN, junk)):
        result = planner.plan(*pair)
        assert result.outcome == "translate_error"
        assert 0 < len(result.message) <= 1500
        assert result.message.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "search",
    [
        "astar(nonsense())",
        "astar(",
        "not a search at all",
        "astar(lmcut(),bound=99999999999)",
    ],
)
def test_a_search_that_fast_downward_rejects_is_the_users_mistake(search: str) -> None:
    with (
        FastDownward(search=search) as wrong,
        pytest.raises(ConfigError, match=r"planner\.search"),
    ):
        wrong.plan(DOMAIN, problem())
