"""Each of our worlds: what it draws, how it is told, and that the reference wins it."""

import hashlib
import re
from collections.abc import Iterator

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Turn
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.generated import (
    Degree,
    families,
    generate,
    words_of,
)
from pddlego_local.environments.described.recognized import recognize
from pddlego_local.environments.described.wording import rules_in_words
from pddlego_local.environments.described.world import World, objects_in
from pddlego_local.methods.formalizer import Formalizer
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.environments.test_described import DEGREES, solve
from tests.methods.playing import play

LEARNED = ("blocksworld", "logistics", "mystery")
"""Models were trained on these: no text of theirs may change."""
HASHES = {
    ("blocksworld", "moderately"): "224aba05fe42cedc",
    ("blocksworld", "heavily"): "8537b06933aac295",
    ("logistics", "moderately"): "86341cf2a5aeae14",
    ("logistics", "heavily"): "4ec34aac0ea39733",
    ("mystery", "moderately"): "43ead34fb013f526",
    ("mystery", "heavily"): "eaf904300f67bd94",
}
CONSTRAINED = [name for name in families() if "constraints" in words_of(name)]


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    with FastDownward(search="lama_first") as planner:
        yield planner


def text_of(world: World) -> str:
    return f"{world.domain_text}\n\n{world.problem_text}"


@pytest.mark.parametrize(("family", "degree"), HASHES)
def test_worlds_that_models_learned_stay_as_they_are(family: str, degree: Degree) -> None:
    worlds = [generate(family, degree, (3, 8), seed) for seed in range(20)]
    told = [
        "\n".join([w.name, w.domain_text, w.problem_text, w.domain, w.problem, str(w.heads)])
        for w in worlds
    ]
    assert hashlib.sha256("".join(told).encode()).hexdigest()[:16] == HASHES[family, degree]


def test_there_are_ten_more_worlds() -> None:
    assert set(families()) == {
        *LEARNED, "childsnack", "depots", "elevator", "ferry", "grid", "gripper", "rover",
        "sokoban", "spanner", "visitall",
    }  # fmt: skip
    assert set(families()) - set(CONSTRAINED) == {"sokoban"}


@pytest.mark.parametrize("family", families())
def test_the_reference_wins(family: str, planner: FastDownward) -> None:
    for game in range(5):
        world = Described(world=family, text=DEGREES[game % 2], sizes=(2, 6))
        outcome = play(Formalizer(), world, ReferenceFormalizer(), planner, game=game)[0]
        assert outcome in ("success", "success_at_start")
        assert outcome == "success" or family in LEARNED


@pytest.mark.parametrize("family", CONSTRAINED)
def test_a_constrained_world_is_solvable_and_says_so(family: str, planner: FastDownward) -> None:
    said = set[str]()
    for game in range(5):
        world = Described(world=family, text=DEGREES[game % 2], sizes=(2, 6), constraint="one")
        solve(world, game, planner)
        plain = generate(family, DEGREES[game % 2], (2, 6), game)
        domain_text, problem_text = world.texts
        assert domain_text == plain.domain_text
        assert problem_text.startswith(f"{plain.problem_text}\n")
        assert (world.domain, world._world.problem) != (plain.domain, plain.problem)
        assert "constrained" in world.task_type
        said.add(problem_text.splitlines()[-1])
        assert recognize("\n\n".join(world.texts), {family: (2, 6)})[0] == ""
    assert all(sentence.endswith(".") for sentence in said)


def test_a_world_without_constraints_says_so() -> None:
    with pytest.raises(ConfigError, match="the world sokoban has no constraint"):
        Described(world="sokoban", constraint="one").preflight()


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("family", families())
def test_a_text_names_every_object_and_has_as_many_as_it_should(
    family: str, degree: Degree
) -> None:
    thing, counts, maps = words_of(family)["thing"], set[int](), set[str]()
    world = Described(world=family, text=degree)
    for seed in range(30):
        drawn = generate(family, degree, (3, 8), seed)
        objects = objects_in(drawn.problem, drawn.domain)
        if seed < 5:
            world.reset(seed)
            assert world.names([Turn("", text_of(drawn))]).objects == objects
        counts.add(sum(re.fullmatch(rf"{thing}\d+", name) is not None for name in objects))
        maps.add(world.map_of(seed))
        assert generate(family, degree, (3, 8), seed) == drawn
        found = check(drawn.domain, drawn.problem)
        assert found.accepted and (family in LEARNED or not found.faults), found.faults
    assert {3, 8} <= counts <= set(range(3, 9)) and len(maps) > 27


@pytest.mark.parametrize("family", [name for name in families() if name != "childsnack"])
def test_texts_of_all_worlds_can_be_recognized(family: str) -> None:
    """All but those with a name that has no number, the kitchen."""
    for seed in range(3):
        for degree in DEGREES:
            text = text_of(generate(family, degree, (2, 6), seed))
            assert recognize(text, {family: (2, 6)}) == (text, "")


def test_an_unknown_world_is_refused_with_the_known_ones() -> None:
    cell = compose_cell(["environment=described", "environment.world=griper"])
    with pytest.raises(ConfigError) as refused:
        cell.build("environment")
    assert "did you mean gripper?" in str(refused.value)
    assert ", ".join(families()) in str(refused.value)


def test_a_cell_without_a_constraint_has_the_name_that_it_had() -> None:
    assert "constraint" not in compose_cell(["environment=described"]).identity["environment"]
    constrained = compose_cell(["environment=described", "environment.constraint=one"])
    assert constrained.identity["environment"]["constraint"] == "one"


# ---- Rules in words


def test_rules_of_any_domain_in_words() -> None:
    domain = """(define (domain d) (:requirements :adl) (:types van - object small - van)
     (:constants Base - place) (:predicates (at ?v - van ?p) (near ?p ?q) (done))
     (:action go :parameters (?v - van ?from ?to)
      :precondition (and (at ?v ?from) (not (= ?from ?to)) (near ?to Base))
      :effect (and (at ?v ?to) (not (at ?v ?from))))
     (:action end :parameters (?v - van ?w - van) :precondition (or (at ?v Base) (done))
      :effect (when (done) (at ?w Base)))
     (:action stop :parameters () :effect (done)))"""
    assert rules_in_words(domain, {"at": "{0} is at {1}"}).splitlines() == [
        "Every small is a van.",
        "There is always Base, a place.",
        "Go is done with the van, the from and the to.",
        "  Go needs: the van is at the from; not: the from is the to; "
        '"near" holds of the to and base.',
        "  Go makes true: the van is at the to.",
        "  Go makes false: the van is at the from.",
        "End is done with the first van and the second van.",
        "  End needs: (or (at ?v Base) (done)).",
        "  End changes: (when (done) (at ?w Base)).",
        "Stop is done with nothing.",
        "  Stop needs: nothing.",
        '  Stop makes true: "done" holds.',
    ]
    assert rules_in_words("", {}) == rules_in_words("no domain", {}) == ""


@pytest.mark.parametrize("family", families())
def test_every_predicate_of_a_new_world_has_a_phrase(family: str) -> None:
    if family not in LEARNED:
        assert '"' not in words_of(family)["domain_text"]["heavily"]
