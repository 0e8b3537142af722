"""Plans spell names as the files declare them."""

import pytest

from pddlego_local.planner.verdict import in_spelling_of

DOMAIN = """(define (domain d) ; (:action MOVE
  (:types Room - object :OBJECTS)
  (:predicates (AT ?x) (:action ?X)) ; (:constants ROOM12)
  (:constants Start - room
    lamp - thing)
  (:ACTION Move :parameters (?X - room) :effect (AT ?x)))"""
PROBLEM = """(define (problem p) (:domain d)
  (:objects Room12 - room ; ROOM12
    room -Far - room THING) ; )
  (:init (at ROOM12)) (:goal (at START)))"""


@pytest.mark.parametrize(
    ("step", "spelled"),
    [
        ("(move room12 start)", "(Move Room12 Start)"),
        ("(move -far lamp)", "(Move -Far lamp)"),
        ("(move thing lamp)", "(Move THING lamp)"),
        ("(move room)", "(Move room)"),
        ("(move move)", "(Move move)"),
        ("(unknown x)", "(unknown x)"),
    ],
)
def test_names_are_spelled_as_declared(step: str, spelled: str) -> None:
    assert in_spelling_of(DOMAIN, PROBLEM, (step,)) == (spelled,)
