"""A model that goes round in circles: when it is noticed, what is kept, how the answer
goes on.
"""

import pytest

from pddlego_local.decoding.repetition import LoopWatch

EDIT = '{"objects": {"add": ['
PROBLEM = '{"df": "…", "pf": "(define (problem p) (:domain d) '
DOMAIN = '{"df": "(define (domain d) (:requirements :strips) '

CIRCLES = [
    # before, what is written up to the circle, what is kept of it
    (
        EDIT,
        '"a - room", "b - room", "a - room", "b - room", "a - room"',
        '"a - room", "b - room"',
    ),
    (
        EDIT,
        '"a - room", "a - room", "b - room", "a - room"',
        '"a - room", "a - room", "b - room"',
    ),
    (EDIT, '"a - room", "A  - room",\n "a - ROOM"', '"a - room"'),
    (EDIT, '"hall hall hall ', '"hall'),
    (EDIT + '], "replace": {', '"a": "b", "a": "b", "a"', '"a": "b"'),
    (EDIT, '"none-of-none-of-none-of-', '"none-of-none-of-none-of-'),
    (PROBLEM, "(:objects a b - room a - room b a ", "(:objects a b - room"),
    (PROBLEM, "(:objects a\\n b - room\\n a - room a\\", "(:objects a\\n b - room"),
    (PROBLEM, r"(:init (at a)\n ; (at a)\n (at\ta)\n (at a)", "(:init (at a)"),
]


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
    [
        (
            EDIT,
            (
                '"a - room", "b - room", "c - room", "d - room"], "replace": {}, '
                '"delete": ["a"'
            ),
        ),
        (EDIT, '"a1 a2 a3 a4 - room", "b1 b2 b3 b4 - room", "c111 - room"'),
        (EDIT + '], "replace": {', '"a": "x", "b": "x", "c": "x", "d": "x"'),
        (PROBLEM, "(:objects a - room b - room c - room d - room) "),
        (
            PROBLEM,
            "(:init (next a a a a) (next a a b a) (= (cost a) 3) (= (cost b) 3)) ",
        ),
        (
            PROBLEM,
            (
                "(:init (at a) (at b)) (:goal (and (at a) (not (at b)) (or (at a) (at "
                "b)))) "
            ),
        ),
        (
            DOMAIN,
            (
                "(:predicates (next ?a - room ?b - room ?c - room) (at ?a - room) (on "
                "?a)) "
            ),
        ),
        (
            DOMAIN,
            (
                "(:action go :parameters (?a ?b ?c - room) :effect (and (not (at ?a)) "
                "(at ?b))) "
            ),
        ),
        (
            DOMAIN,
            (
                "(:action go :precondition (imply (= ?a ?a) (= ?a ?a)) :effect (at ?a "
                "?a ?a)) "
            ),
        ),
        (
            DOMAIN,
            (
                "(:action a :effect (and)) (:action b :effect (and)) (:action c "
                ":effect (and)) "
            ),
        ),
    ],
)
def test_what_is_said_of_several_things_is_no_circle(before: str, text: str) -> None:
    watch = LoopWatch(before)
    assert not any(watch(text[:number]) for number in range(1, len(text) + 1))
    assert not watch.breaks(text)


@pytest.mark.parametrize(
    ("before", "text", "kept"),
    [
        (EDIT, '"a - room", "b - room", "a - room", "b - ro', '"a - room", "b - room"'),
        (EDIT, '"a - room", "b - room", "a - room", "c - ro', None),
        (EDIT, '"a - room", "b - ro', None),
        (PROBLEM, "(:init (at a) (at b) (at a) (at", "(:init (at a) (at b)"),
        (PROBLEM, "(:init (at a) (at b) (at c) (at", None),
        (PROBLEM, "(:objects a b - room a - roo", "(:objects a b - room"),
        (PROBLEM, "(:objects a b a ", "(:objects a b"),
        (PROBLEM, "(:objects a b a ke", None),
    ],
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
