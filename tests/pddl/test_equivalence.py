"""Which problems are the same but for the names of their objects."""

import itertools
import random
import re
from collections.abc import Sequence

import pytest

from pddlego_local.environments.described.generated import generate
from pddlego_local.pddl.equivalence import compare

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


VERDICTS = {
    "equivalent": {
        "as it is": problem(),
        "other order": problem("p q - place b - box u t - truck", INIT),
        "facts and goals in another order": problem(
            init="(calm) (in b t) (road q home) (road p q) (at u q) (at t p)",
            goal="(and (at u p) (and (at t home)))",
        ),
        "said twice, and that something is false": problem(
            init=f"{INIT} (CALM) (not (at b p))"
        ),
        "names": re.sub(
            r"\b[tubpq]\b(?=[ )])", lambda m: f"thing{ord(m[0])}", problem()
        ),
        "names exchanged": problem(
            init="(at u q) (at t p) (road q p) (road p home) (in b u) (calm)",
            goal="(and (at u home) (at t q))",
        ),
        "the constant is declared as an object": problem(f"{OBJECTS} home - place"),
    },
    "different": {
        "a fact less": problem(init=INIT.replace("(calm)", "")),
        "a fact more": problem(init=f"{INIT} (road q p)"),
        "arguments exchanged": problem(
            init=INIT.replace("(road q home)", "(road home q)")
        ),
        "another object": problem(init=INIT.replace("(in b t)", "(in b u)")),
        "another type": problem(OBJECTS.replace("truck", "vehicle")),
        "an object more": problem(f"{OBJECTS} c - box"),
        "half a goal": problem(goal="(and (at t home))"),
        "the opposite": problem(goal="(and (at t home) (not (at u p)))"),
        "goal and start exchanged": problem(
            init=INIT + " (at u p)", goal="(and (at t home))"
        ),
        "another place than the constant": problem(goal="(and (at t q) (at u p))"),
    },
    "not comparable": {
        "another predicate": problem(init=INIT.replace("road", "street")),
        "another arity": problem(init=INIT.replace("(calm)", "(calm t)")),
        "another type": problem(OBJECTS.replace("box", "crate")),
        "a choice": problem(goal="(or (at t home) (at u p))"),
        "undeclared": problem(OBJECTS.replace("b - box", "")),
        "no goal": problem().replace("(:goal", "(:gaol"),
        "cut": problem()[:-2],
        "empty": "",
    },
}


@pytest.mark.parametrize(
    ("verdict", "name"),
    [(verdict, name) for verdict, named in VERDICTS.items() for name in named],
)
def test_an_answer_has_its_verdict_whichever_of_the_two_is_gold(
    verdict: str, name: str
) -> None:
    answer = VERDICTS[verdict][name]
    assert compare(DOMAIN, problem(), answer) == verdict
    assert compare(DOMAIN, answer, problem()) == verdict


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


def _switched(places: int, twisted: bool) -> str:
    """Each road of a complete graph is a pair of switches that must agree (Cai, Fürer
    and Immerman 1992). With one pair twisted, no neighbourhood differs, and colours
    never tell the two apart.
    """
    names, roads = set[str](), list[str]()

    def road(one: str, other: str) -> None:
        names.update((one, other))
        roads.extend((f"(road {one} {other})", f"(road {other} {one})"))

    for place in range(places):
        others = [other for other in range(places) if other != place]
        for size in range(0, places, 2):
            for chosen in itertools.combinations(others, size):
                middle = f"m{place}-{'-'.join(map(str, chosen))}"
                for other in others:
                    road(middle, f"s{place}-{other}-{int(other in chosen)}")
    for one, other in itertools.combinations(range(places), 2):
        for side in (0, 1):
            twist = twisted and (one, other) == (0, 1)
            road(f"s{one}-{other}-{side}", f"s{other}-{one}-{side ^ twist}")
    return problem(f"{' '.join(sorted(names))} - place", " ".join(roads), "(calm)")


def test_what_would_take_too_much_work_is_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, twisted = _switched(3, twisted=False), _switched(3, twisted=True)
    assert compare(DOMAIN, plain, twisted) == "different"
    assert compare(DOMAIN, plain, plain) == "equivalent"
    monkeypatch.setattr("pddlego_local.pddl.equivalence.MOST_STEPS", 50_000)
    plain, twisted = _switched(4, twisted=False), _switched(4, twisted=True)
    assert compare(DOMAIN, plain, twisted) == "undecided"


@pytest.mark.parametrize("objects", ["", "t u - truck"])
def test_a_problem_without_facts_is_equivalent_to_itself(objects: str) -> None:
    nothing = problem(objects, init="", goal="(and)")
    assert (
        compare(DOMAIN.replace(" (:constants home - place)", ""), nothing, nothing)
        == "equivalent"
    )
    assert (
        compare(DOMAIN, nothing, problem("t - truck", init="", goal="(and)"))
        == "different"
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
