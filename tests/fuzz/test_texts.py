"""Whatever a model writes is read, checked and explained, without an exception."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pddlego_local.core.nouns import Completion, PlanResult
from pddlego_local.decoding.forms import (
    COMMAND,
    FORMS,
    GOALS,
    MOVE,
    PDDL,
    Edit,
    Fields,
    Form,
    choice,
)
from pddlego_local.episode.reading.answer import read_free
from pddlego_local.pddl.check import MOST_CHARACTERS, check, explain
from pddlego_local.pddl.edit import apply, difference
from pddlego_local.pddl.sections import with_goal
from tests.episode.test_free_answers import ROWS, squashed
from tests.fuzz.hostile import (
    SLIPS,
    TABLE,
    TEXTS,
    Slip,
    fuzz,
    mangled,
    pairs,
    real_answers,
    ten_megabytes,
)


def given_up(text: str, form: Form[Fields]) -> str:
    answer = read_free(Completion(text, "stop", 0, 0, 0.0), form)
    if answer.value is None:
        assert answer.fault in ("empty", "no_json", "wrong_keys", "placeholder")
    else:
        assert answer.fault == ""
        answer.value.model_dump_json().encode()  # a file can hold it
    return answer.fault


@fuzz(0.2)
@given(TEXTS, st.sampled_from(FORMS))
def test_a_hostile_answer_is_read_or_refused_by_name(
    text: str, form: Form[Fields]
) -> None:
    given_up(text, form)


@fuzz(0.2)
@given(st.sampled_from([row for row in ROWS if "form" not in row]), SLIPS)
def test_what_is_read_of_a_damaged_answer_stands_in_it(
    row: dict[str, str], slips: list[Slip]
) -> None:
    text = mangled(row["answer"], slips)
    answer = read_free(Completion(text, "stop", 0, 0, 0.0), PDDL)
    if answer.value and "\\" not in text:  # else characters may be written as escapes
        for file in (answer.value.df, answer.value.pf):
            assert squashed(file) in squashed(text)


@pytest.mark.parametrize("piece", ["x", "{", '{"df": "', "```\n", "```x\n", "\n"])
def test_an_answer_of_ten_megabytes_is_read(piece: str) -> None:
    given_up(ten_megabytes(piece), PDDL)


@pytest.mark.parametrize("piece", TABLE["repeated"])
def test_a_long_answer_of_one_piece_is_read(piece: str) -> None:
    """In time that grows as the answer does: the square of its length would take
    minutes.
    """
    for before in ("", "(define (domain d)\n", "<think>"):
        text = before + piece * (100_000 // len(piece))
        for form in (PDDL, COMMAND, GOALS, MOVE, choice(12)):
            given_up(text, form)


@fuzz(0.1)
@given(TEXTS, TEXTS, st.data())
def test_a_good_answer_is_found_in_hostile_prose(
    before: str, after: str, data: st.DataObject
) -> None:
    """Braces and fences could be answers of their own, and are left out."""
    real = data.draw(st.sampled_from(real_answers())).answer
    before, after = (re.sub("[{}`]", "", text) for text in (before, after))
    answer = read_free(
        Completion(f"{before}\n{json.dumps(real)}\n{after}", "stop", 0, 0, 0.0), PDDL
    )
    assert answer.value is not None
    assert answer.value.model_dump() == real


@fuzz(0.2)
@given(pairs())
def test_hostile_pddl_is_checked_and_explained(pair: tuple[str, str]) -> None:
    verdict = check(*pair)
    assert verdict.accepted or verdict.faults
    assert all(len(fault.message) < 1000 for fault in verdict.faults)
    for outcome in ("translate_error", "unsolvable", "goal_already_true"):
        told = explain(*pair, PlanResult(outcome, (), "No.", 0.0))
        assert told
        assert len(told) <= MOST_CHARACTERS
    with_goal(pair[1], "(and)")


@pytest.mark.parametrize("piece", ["x", "; ", '"'])
def test_a_line_of_ten_megabytes_is_checked_and_explained(piece: str) -> None:
    domain, problem = real_answers()[0].answer.values()
    for pair in (
        (ten_megabytes(piece), problem),
        (domain, with_inside(problem, piece)),
    ):
        verdict = check(*pair)
        assert verdict.accepted or verdict.faults
        assert (
            len(explain(*pair, PlanResult("translate_error", (), "No.", 0.0)))
            <= MOST_CHARACTERS
        )


def with_inside(problem: str, piece: str) -> str:
    return problem.replace("(:init", "(:init " + ten_megabytes(piece) + "\n", 1)


EDITED = st.builds(
    lambda texts, renamed: {
        "objects": {"add": texts[0::3], "replace": renamed, "delete": texts[1::3]},
        "init": {"add": texts[2::3], "replace": renamed, "delete": texts[0::2]},
    },
    st.lists(TEXTS, max_size=6),
    st.dictionaries(TEXTS, TEXTS, max_size=2),
)


@fuzz(0.1)
@given(EDITED, pairs(), SLIPS)
@example(
    {"objects": {"add": ["\x1b - \x1b"], "replace": {"": ""}, "delete": [")"]},
     "init": {"add": ["(" * 900], "replace": {"(": ")"}, "delete": ["()"]}},
    ("", "(define"), [],
)  # fmt: skip
def test_hostile_edits_are_applied_or_reported(
    changes: dict[str, object], pair: tuple[str, str], slips: list[Slip]
) -> None:
    edited, faults, _ = apply(Edit.model_validate(changes).model_dump(), pair[1])
    assert all(isinstance(fault, str) for fault in faults)
    difference(pair[1], mangled(edited, slips))
