"""Edits of a problem file, and the ways between files and edits."""

from typing import Any

import pytest

from pddlego_local.decoding.forms import Edit
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import (
    apply,
    difference,
    empty_problem,
    facts_of,
    objects_of,
)
from pddlego_local.pddl.sections import with_goal
from tests.tables import table

CASES = table(__file__)

FILE = """(define (problem p) ; a comment with (:init (no))
  (:domain d)
  (:objects kitchen loc1
            - location south - direction)
  (:init (at kitchen) (connected kitchen loc1 south) ; (not this)
    (closed-door  kitchen
      loc1))
  (:goal (and (at loc1)
              (not (at kitchen)))))
"""


MISLEADING = """; (:init (at moon)) (:goal (at moon)) (:objects moon)
(DEFINE (PROBLEM :goal-of-the-day) ; ) :goal
  (:Domain d)
  (:OBJECTS ; (:init (
    Kitchen :goals init - ROOM ; moon - room )
    loc1 - (either room place) domain)
  (:Init (AT  Kitchen) ; (at moon) )
    (not (at loc1)) (= (Total-Cost) 0)
    (near ; (
      Kitchen ; )
      :goals)) ; (:goal (at moon))
  ( :GOAL (AT init))) ; :init
"""


def edit(**parts: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"add": [], "replace": {}, "delete": []}
    changes = {name: {**empty, **parts.get(name, {})} for name in ("objects", "init")}
    return Edit.model_validate(changes).model_dump()


def test_objects_and_facts_are_read_as_they_stand() -> None:
    assert objects_of(FILE) == {
        "kitchen": "location",
        "loc1": "location",
        "south": "direction",
    }
    assert facts_of(FILE) == [
        "(at kitchen)", "(connected kitchen loc1 south)", "(closed-door kitchen loc1)",
    ]  # fmt: skip
    assert objects_of("(:objects a b)") == {"a": "object", "b": "object"}


def test_a_renamed_object_is_renamed_wherever_it_occurs_and_nowhere_else() -> None:
    file, faults, _ = apply(
        edit(objects={"replace": {"loc1": "pantry"}, "add": ["loc11 - location"]}), FILE
    )
    assert faults == ()
    assert objects_of(file) == {
        "kitchen": "location",
        "pantry": "location",
        "south": "direction",
        "loc11": "location",
    }
    assert "(closed-door kitchen pantry)" in facts_of(file)
    further, *_ = apply(edit(objects={"replace": {"loc11": "attic"}}), file)
    assert "pantry" in objects_of(further) and "attic" in objects_of(further)


def test_facts_are_added_deleted_and_replaced_once() -> None:
    file, faults, *_ = apply(
        edit(init={
            "add": ["( at  loc1 )", "(at loc1)", "at south", "(at loc1"],
            "delete": ["(at kitchen)"],
            "replace": {"(closed-door kitchen loc1)": "(open kitchen loc1)"},
        }),
        FILE,
    )  # fmt: skip
    assert faults == ()
    assert facts_of(file) == [
        "(connected kitchen loc1 south)",
        "(open kitchen loc1)",
        "(at loc1)",
        "(at south)",
    ]


@pytest.mark.parametrize(
    ("changes", "fault"),
    CASES["what_names_nothing_is_a_fault_and_changes_nothing"],
)
def test_what_names_nothing_is_a_fault_and_changes_nothing(
    changes: Any, fault: str
) -> None:
    file, faults, *_ = apply(edit(**changes), FILE)
    assert faults == (fault,)
    assert (objects_of(file), facts_of(file)) == (objects_of(FILE), facts_of(FILE))


def test_a_difference_applied_gives_the_other_file() -> None:
    other = FILE.replace("loc1", "pantry").replace("(at kitchen) (c", "(at pantry) (c")
    for before in (FILE, empty_problem("(define (domain d))")):
        after, faults, *_ = apply(difference(before, other), before)
        assert faults == ()
        assert objects_of(after) == objects_of(other)
        assert sorted(facts_of(after)) == sorted(facts_of(other))


@pytest.mark.parametrize(
    "domain",
    [
        "; c\n(define (domain coin_x) (:types a))",
        (
            "; (domain moon)\n( DEFINE ; (domain moon)\n ( Domain ; )\n coin_x )"
            " (:types domain))"
        ),
    ],
)
def test_an_empty_problem_is_of_the_domain(domain: str) -> None:
    assert "(:domain coin_x)" in empty_problem(domain)


def test_comments_names_and_upper_case_mislead_nobody() -> None:
    assert objects_of(MISLEADING) == {
        "Kitchen": "ROOM", ":goals": "ROOM", "init": "ROOM",
        "loc1": "(either room place)", "domain": "object",
    }  # fmt: skip
    assert facts_of(MISLEADING) == [
        "(AT Kitchen)",
        "(not (at loc1))",
        "(= (Total-Cost) 0)",
        "(near Kitchen :goals)",
    ]
    before, after = MISLEADING.split("( :GOAL (AT init))")
    assert with_goal(MISLEADING, "(p)") == f"{before}(:goal (p)){after}"


def test_of_a_misleading_file_only_objects_and_facts_change() -> None:
    changes = edit(
        objects={
            "replace": {"kitchen": "Hall"},
            "delete": ["DOMAIN"],
            "add": ["a - room b - way"],
        },
        init={"delete": ["(NOT (at LOC1))"], "add": ["(at b) (at a)", "(AT hall)"]},
    )
    file, faults, *_ = apply(changes, MISLEADING)
    assert faults == ()
    assert objects_of(file) == {
        "Hall": "ROOM", ":goals": "ROOM", "init": "ROOM", "loc1": "(either room place)",
        "a": "room", "b": "way",
    }  # fmt: skip
    assert facts_of(file) == [
        "(AT Hall)", "(= (Total-Cost) 0)", "(near Hall :goals)", "(at b)", "(at a)",
    ]  # fmt: skip
    for end in ("; (:init (\n", "; (:goal (at moon))\n  ( :GOAL (AT init))) ; :init\n"):
        assert end in MISLEADING and (end in file or end.startswith("; (:init"))


def test_an_object_is_renamed_and_a_predicate_of_its_name_is_not() -> None:
    file = (
        "(define (problem p) (:objects at) (:init (at at) (not (at at))) (:goal (at"
        " at)))"
    )
    renamed, *_ = apply(edit(objects={"replace": {"at": "hall"}}), file)
    assert facts_of(renamed) == ["(at hall)", "(not (at hall))"]


def test_a_goal_is_replaced_and_nothing_else() -> None:
    goal = "(:goal (and (at loc1)\n              (not (at kitchen))))"
    assert with_goal(FILE, "(p)") == FILE.replace(goal, "(:goal (p))")
    assert with_goal("(define (problem p) (:init))", "(p)").endswith(
        "(:init)(:goal (p)))"
    )
    assert with_goal("nothing", "(p)") == "nothing"


DOMAIN = (
    "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (p)))"
)


@pytest.mark.parametrize(
    "problem",
    [
        "(define (problem x) (:domain d) (:init (q)) (:goal (q))",
        "(define (problem x) (:domain d) (:init (q)) (:goal (and (q)",
        "(define (problem x) (:domain d) (:init (q) (:goal (and (q))",
        "(define (problem x) (:domain d)) (:init (q)) (:goal (q))",
        "(define (problem x) (:domain d) (:init (q))",
        "(define (problem x) (:domain d) (:init (q)) ; (:goal (",
    ],
)
def test_the_goal_of_a_broken_file_is_set_and_the_file_stays_broken(
    problem: str,
) -> None:
    """The planner is to refuse it as it was written."""
    changed = with_goal(problem, "(p)")
    assert check(DOMAIN, problem).syntax is False
    assert check(DOMAIN, changed).syntax is False
    assert "(:goal (p)" in changed and "(:goal (q" not in changed
