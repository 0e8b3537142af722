"""Which problems are the same but for the names of their objects."""

import itertools
import random
import re
from collections.abc import Sequence

import pytest

from pddlego_local.environments.described.generated import generate
from pddlego_local.pddl.equivalence import compare
from tests.tables import table

DOMAIN = """(define (domain moves) (:requirements :strips :typing)
 (:types truck - vehicle box vehicle place) (:constants home - place)
 (:predicates (at ?v - vehicle ?p - place) (road ?a ?b - place)
 (in ?b - box ?v - vehicle) (calm))
 (:action rest :parameters () :effect (calm)))"""
OBJECTS = "t u - truck b - box p q - place"
INIT = "(at t p) (at u q) (road p q) (road q home) (in b t) (calm)"
GOAL = "(and (at t home) (at u p))"


def problem(objects: str = OBJECTS, init: str = INIT, goal: str = GOAL) -> str:
    return (
        f"(define (problem p) (:domain moves) (:objects {objects}) (:init {init})"
        f" (:goal {goal}))"
    )


GOLD = problem()
ANSWERS = [
    (verdict, problem(**changes))
    for verdict, named in table(__file__).items()
    for changes in named.values()
]
RENAMED = re.sub(r"\b[tubpq]\b(?=[ )])", lambda m: f"thing{ord(m[0])}", GOLD)
ANSWERS += [("equivalent", RENAMED), ("not comparable", "")]
ANSWERS += [
    ("not comparable", text) for text in (GOLD.replace("(:goal", "(:gaol"), GOLD[:-2])
]


@pytest.mark.parametrize(("verdict", "answer"), ANSWERS)
def test_an_answer_has_its_verdict_whichever_of_the_two_is_gold(
    verdict: str, answer: str
) -> None:
    assert compare(DOMAIN, GOLD, answer) == verdict
    assert compare(DOMAIN, answer, GOLD) == verdict


def _circles(*lengths: int) -> str:
    names, roads = [f"p{n}" for n in range(sum(lengths))], []
    first = 0
    for length in lengths:
        ring = names[first : first + length]
        roads += [
            f"(road {a} {b})" for a, b in zip(ring, ring[1:] + ring[:1], strict=True)
        ]
        first += length
    return problem(f"{' '.join(names)} - place", " ".join(roads), "(calm)")


def test_problems_that_look_alike_everywhere_are_told_apart() -> None:
    assert compare(DOMAIN, _circles(3, 3), _circles(6)) == "different"
    assert compare(DOMAIN, _circles(12), _circles(12)) == "equivalent"
    assert compare(DOMAIN, _circles(3, 4), _circles(4, 3)) == "equivalent"


def test_what_would_take_too_much_work_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pddlego_local.pddl.equivalence.MOST_STEPS", 100)
    assert compare(DOMAIN, _circles(3, 3), _circles(6)) == "undecided"


@pytest.mark.parametrize("objects", ["", "t u - truck"])
def test_a_problem_without_facts_is_equivalent_to_itself(objects: str) -> None:
    nothing = problem(objects, init="", goal="(and)")
    assert (
        compare(DOMAIN.replace(" (:constants home - place)", ""), nothing, nothing)
        == "equivalent"
    )
    assert (
        compare(DOMAIN, nothing, problem("t - truck", init="", goal="(and)"))
        == "equivalent but for idle objects"
    )


def test_many_interchangeable_objects_take_no_time() -> None:
    gold = generate("elevator", "heavily", (40, 40), 0)
    other = re.sub(
        r"passenger(\d+)", lambda m: f"guest{37 * int(m[1]) % 41}", gold.problem
    )
    assert compare(gold.domain, gold.problem, other) == "equivalent"
    assert (
        compare(gold.domain, gold.problem, other.replace("floor1)", "floor2)", 1))
        == "different"
    )


def test_agrees_with_trying_all_renamings() -> None:
    chance = random.Random(0)
    places = ("p0", "p1", "p2")
    roads = [(one, other) for one in places for other in places]
    verdicts = set()
    for _ in range(150):
        gold, answer = chance.sample(roads, 3), chance.sample(roads, 3)
        verdict = compare(DOMAIN, with_roads(gold), with_roads(answer))
        is_a_renaming = False
        for order in itertools.permutations(places):
            names = dict(zip(places, order, strict=True))
            renamed = {(names[a], names[b]) for a, b in gold}
            is_a_renaming |= renamed == {*answer}
        assert (verdict == "equivalent") is is_a_renaming
        verdicts.add(verdict)
    assert len(verdicts) == 2


def with_roads(roads: Sequence[tuple[str, ...]]) -> str:
    facts = " ".join(f"(road {a} {b})" for a, b in roads)
    return problem("p0 p1 p2 - place", facts, "(calm)")
