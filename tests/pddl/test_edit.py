"""Edits of a problem file, and the ways between files and edits."""

from typing import Any

import pytest

from pddlego_local.decoding.forms import Edit
from pddlego_local.pddl.edit import apply, difference, empty_problem, facts_of, objects_of
from pddlego_local.pddl.sections import section, with_goal

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


def edit(**parts: Any) -> Edit:
    empty: dict[str, Any] = {"add": [], "replace": {}, "delete": []}
    return Edit.model_validate(
        {name: {**empty, **parts.get(name, {})} for name in ("objects", "init")}
    )


def test_objects_and_facts_are_read_as_they_stand() -> None:
    assert objects_of(FILE) == {"kitchen": "location", "loc1": "location", "south": "direction"}
    assert facts_of(FILE) == [
        "(at kitchen)", "(connected kitchen loc1 south)", "(closed-door kitchen loc1)",
    ]  # fmt: skip
    assert objects_of("(:objects a b)") == {"a": "object", "b": "object"}


def test_a_renamed_object_is_renamed_wherever_it_occurs_and_nowhere_else() -> None:
    file, faults = apply(edit(objects={"replace": {"loc1": "pantry"}, "add": ["loc11 - location"]}),
                         FILE)  # fmt: skip
    assert faults == ()
    assert objects_of(file) == {
        "kitchen": "location", "pantry": "location", "south": "direction", "loc11": "location",
    }  # fmt: skip
    assert "(closed-door kitchen pantry)" in facts_of(file)
    further, _ = apply(edit(objects={"replace": {"loc11": "attic"}}), file)
    assert "pantry" in objects_of(further) and "attic" in objects_of(further)


def test_facts_are_added_deleted_and_replaced_once() -> None:
    file, faults = apply(
        edit(init={
            "add": ["( at  loc1 )", "(at loc1)"],
            "delete": ["(at kitchen)"],
            "replace": {"(closed-door kitchen loc1)": "(open kitchen loc1)"},
        }),
        FILE,
    )  # fmt: skip
    assert faults == ()
    assert facts_of(file) == [
        "(connected kitchen loc1 south)", "(open kitchen loc1)", "(at loc1)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"objects": {"delete": ["cellar"]}}, "objects.delete: there is no object cellar"),
        ({"objects": {"replace": {"a": "b"}}}, "objects.replace: there is no object a"),
        ({"init": {"delete": ["(at cellar)"]}}, "init.delete: there is no fact (at cellar)"),
        ({"init": {"replace": {"(at x)": "(at y)"}}}, "init.replace: there is no (at x)"),
        ({"init": {"replace": {"cellar": "y"}}}, "init.replace: there is no cellar"),
        ({"objects": {"add": [""]}}, "objects.add: '' declares nothing"),
    ],
)
def test_what_names_nothing_is_a_fault_and_changes_nothing(changes: Any, fault: str) -> None:
    file, faults = apply(edit(**changes), FILE)
    assert faults == (fault,)
    assert (objects_of(file), facts_of(file)) == (objects_of(FILE), facts_of(FILE))


def test_a_difference_applied_gives_the_other_file() -> None:
    other = FILE.replace("loc1", "pantry").replace("(at kitchen) (c", "(at pantry) (c")
    for before in (FILE, empty_problem("(define (domain d))")):
        after, faults = apply(Edit.model_validate(difference(before, other)), before)
        assert faults == ()
        assert objects_of(after) == objects_of(other)
        assert sorted(facts_of(after)) == sorted(facts_of(other))


def test_an_empty_problem_is_of_the_domain() -> None:
    assert "(:domain coin_x)" in empty_problem("; c\n(define (domain coin_x) (:types a))")


def test_a_goal_is_replaced_and_nothing_else() -> None:
    replaced = with_goal(FILE, "(p)")
    assert section(replaced, "goal") == "(:goal (p))"
    assert replaced == FILE.replace(section(FILE, "goal"), "(:goal (p))")
    assert section(with_goal("(define (problem p) (:init))", "(p)"), "goal") == "(:goal (p))"
    assert with_goal("nothing", "(p)") == "nothing"
    assert with_goal("(define (:goal (never)", "(p)").startswith("(define (:goal (never")
