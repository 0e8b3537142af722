"""A model that goes round in circles: when it is noticed, what is kept, how the answer
goes on.
"""

import pytest

from pddlego_local.decoding.repetition import LoopWatch
from tests.tables import table

CASES = table(__file__)

EDIT = '{"objects": {"add": ['
PROBLEM = '{"df": "…", "pf": "(define (problem p) (:domain d) '
DOMAIN = '{"df": "(define (domain d) (:requirements :strips) '

CIRCLES = CASES["circles"]


@pytest.mark.parametrize(("before", "text", "kept"), CIRCLES)
def test_a_circle_is_noticed_as_soon_as_it_is_one(
    before: str, text: str, kept: str
) -> None:
    watch = LoopWatch(before)
    assert [number for number in range(1, len(text) + 1) if watch(text[:number])] == [
        len(text)
    ]
    assert watch.breaks(text)
    assert text[: watch.kept] == kept
    assert watch.breaks(
        text + ' (more, of) "whatever'
    )  # the same, however late it is asked
    assert text[: watch.kept] == kept


@pytest.mark.parametrize(
    ("before", "text"),
    CASES["what_is_said_of_several_things_is_no_circle"],
)
def test_what_is_said_of_several_things_is_no_circle(before: str, text: str) -> None:
    watch = LoopWatch(before)
    assert not any(watch(text[:number]) for number in range(1, len(text) + 1))
    assert not watch.breaks(text)


@pytest.mark.parametrize(
    ("before", "text", "kept"),
    CASES["a_limit_among_repeats_costs_the_repeats_alone"],
)
def test_a_limit_among_repeats_costs_the_repeats_alone(
    before: str, text: str, kept: str | None
) -> None:
    watch = LoopWatch(before)
    assert watch.breaks(text) == (kept is not None)
    assert (None if watch.kept is None else text[: watch.kept]) == kept


def test_a_request_that_is_sent_again_is_watched_from_its_beginning() -> None:
    watch = LoopWatch(EDIT)
    assert watch('"a - room", "a - room", "a - room"')
    assert not watch('"a - room"')
    assert not watch('"a - room", "a - room"')
    assert watch('"a - room", "a - room", "a - room"')


def test_names_are_watched_where_the_model_makes_them_up() -> None:
    assert not LoopWatch(EDIT, names=False)('"none-of-none-of-none-of-')
