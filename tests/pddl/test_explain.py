"""What a model is told instead of the planner's words."""

import pytest

from pddlego_local.core.nouns import PlanOutcome, PlanResult
from pddlego_local.pddl.check import MOST_CHARACTERS, explain
from tests.pddl.test_hostile_text import HOSTILE
from tests.pddl.test_static_check import DOMAIN, PROBLEM, with_change

SAID = "Fast Downward said so.\nAnd more."


def told(
    outcome: PlanOutcome, domain: str = DOMAIN, problem: str = PROBLEM
) -> list[str]:
    return explain(domain, problem, PlanResult(outcome, (), SAID, 0.1)).split("\n")


def test_faults_come_with_place_symbol_and_remedy_and_without_warnings() -> None:
    domain = with_change(
        DOMAIN, "(at ?from) (door", "(at hall) (door ?from ?d ?d) (door"
    )
    assert told("translate_error", domain) == [
        "domain line 10, column 28: `hall` is used in action `move` but is an object of"
        " the problem: declare it under `:constants` of the domain, and no longer under"
        " `:objects`, or use a parameter"
    ]


def test_at_most_five_faults_are_told_in_order() -> None:
    facts = " ".join(f"(at x{number})" for number in range(9))
    lines = told("translate_error", problem=with_change(PROBLEM, "(at k)\n", facts))
    assert [line.split("`")[1] for line in lines] == ["x0", "x1", "x2", "x3", "x4"]


def test_a_broken_structure_is_told_with_the_planners_words() -> None:
    lines = told("translate_error", with_change(DOMAIN, "(:types room", "(types room"))
    assert lines[0].startswith("domain line 3, column 3: `types` is no section")
    assert lines[-1] == "The planner says: Fast Downward said so. And more."


@pytest.mark.parametrize(
    ("outcome", "goal", "reason"),
    [
        (
            "unsolvable",
            "(door hall k east)",
            "problem line 7, column 10: no action can make",
        ),
        (
            "goal_already_true",
            "(at k)",
            "problem line 7, column 10: the goal `(at k)` already",
        ),
    ],
)
def test_why_the_files_lead_nowhere(
    outcome: PlanOutcome, goal: str, reason: str
) -> None:
    lines = told(outcome, problem=with_change(PROBLEM, "(at hall))\n", f"{goal})\n"))
    assert lines[0] == "Fast Downward said so."
    assert lines[1].startswith(reason) and len(lines) == 2


@pytest.mark.parametrize(
    "outcome",
    ["unsolvable", "translate_error", "timeout", "out_of_memory", "planner_fault"],
)
def test_without_findings_the_planner_speaks(outcome: PlanOutcome) -> None:
    assert told(outcome) == SAID.split("\n")


def test_an_explanation_is_bounded_whatever_the_files_are() -> None:
    long = PlanResult("timeout", (), "x" * 9999, 0.1)
    assert len(explain(DOMAIN, PROBLEM, long)) == MOST_CHARACTERS
    for text in HOSTILE.values():
        for pair in ((text, PROBLEM), (DOMAIN, text), (text, text)):
            said = explain(*pair, PlanResult("translate_error", (), "y" * 9999, 0.1))
            assert 0 < len(said) <= MOST_CHARACTERS
