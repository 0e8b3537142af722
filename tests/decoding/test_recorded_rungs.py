"""The rungs against what models really wrote, where those answers are present."""

import pytest

from pddlego_local.planner.fast_downward import FastDownward
from tests.decoding.recorded import RUNGS, WORKED, Judged, judge, rows
from tests.grammars.cases import data_folder

DATA = data_folder()
pytestmark = pytest.mark.skipif(
    DATA is None, reason="no recorded files on this machine"
)


@pytest.fixture(scope="module")
def answers(planner: FastDownward) -> list[Judged]:
    """A sample, with more of the few answers from ALFWorld."""
    assert DATA
    recorded = rows(DATA / "llm_pddl" / "open_weight_dev.jsonl.xz")
    rare = [row for row in recorded if row["environment"] == "alfworld"]
    common = [row for row in recorded if row["environment"] != "alfworld"]
    return [judge(row, planner) for row in (*rare[::4], *common[::40])]


def _ids(answers: list[Judged]) -> list[str]:
    return [answer.row["id"] for answer in answers]


def test_an_answer_without_syntax_is_excluded_from_the_rung_syntax_on(
    answers: list[Judged],
) -> None:
    broken = [answer for answer in answers if answer.cause == "syntax"]
    assert len(broken) > 30
    assert _ids([answer for answer in broken if not set(RUNGS) <= answer.outside]) == []


def test_an_answer_with_wrong_symbols_is_excluded_from_the_rung_typed_on(
    answers: list[Judged],
) -> None:
    mistaken = [answer for answer in answers if answer.cause == "symbols"]
    assert len(mistaken) > 30
    let_through = [
        answer for answer in mistaken if not {"typed", "grounded"} <= answer.outside
    ]
    assert _ids(let_through) == []


def test_what_the_rung_typed_can_write_is_taken_by_the_translator(
    answers: list[Judged],
) -> None:
    inside = [answer for answer in answers if "typed" not in answer.outside]
    assert len(inside) > 100
    assert (
        _ids([answer for answer in inside if answer.outcome == "translate_error"]) == []
    )


def test_few_answers_that_worked_are_excluded(answers: list[Judged]) -> None:
    """Of all recorded ones 0.3, 7.4 and 10.6 %; this sample has more of those from
    ALFWorld.
    """
    worked = [answer for answer in answers if answer.cause == WORKED]
    assert len(worked) > 100
    for rung, most in (("syntax", 3), ("signatures", 10), ("typed", 20)):
        assert sum(rung in answer.outside for answer in worked) <= most


def test_each_rung_excludes_what_the_one_before_does(answers: list[Judged]) -> None:
    nested = [[rung in answer.outside for rung in RUNGS] for answer in answers]
    assert [ladder for ladder in nested if ladder != sorted(ladder)] == []
