"""Described worlds: ours by seed, and folders of texts and gold files."""

import json
import random
import re
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import Turn
from pddlego_local.environments.described import reference
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.generated import Degree, families, generate
from pddlego_local.environments.described.reference import formalize
from pddlego_local.environments.described.world import objects_in
from pddlego_local.methods.formalizer import Formalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.pddl.state import read_task
from pddlego_local.planner import FastDownward
from tests.grammars.cases import data_folder
from tests.methods.playing import play
from tests.worlds import plant_worlds

PUBLIC = (data_folder() or Path("absent")) / "described"
SETS = sorted(path.name for path in PUBLIC.glob("*/"))
DEGREES: tuple[Degree, ...] = ("moderately", "heavily", "naturally")


def solve(world: Described, game: int, planner: FastDownward) -> None:
    """Plays gold's plan."""
    first = world.reset(game)
    result = planner.plan(world.domain, problem_of(world))
    assert result.outcome == ("goal_already_true" if first.success else "solved"), (
        result.message
    )
    for planned in result.plan:
        seen = world.step(str(world.command(planned)))
        assert not seen.refused, seen.feedback
    assert world.won()


def problem_of(world: Described) -> str:
    return formalize([Turn("", "\n\n".join(world.texts))])[1]


@pytest.mark.parametrize("family", families())
def test_gold_files_of_ours_are_worth_a_success(
    family: str, quick_planner: FastDownward
) -> None:
    for game in range(6):
        world = Described(world=family, text=DEGREES[game % 3], sizes=(2, 6))
        solve(world, game, quick_planner)
        begins_as_it_should_end = world.reset(game).success
        assert family in ("blocksworld", "mystery") or not begins_as_it_should_end


@pytest.mark.skipif(not SETS, reason="the public sets are not here")
@pytest.mark.parametrize("name", SETS)
def test_gold_files_of_the_public_sets_are_worth_a_success(
    name: str, quick_planner: FastDownward
) -> None:
    world = Described(folder=PUBLIC / name)
    world.preflight()
    for game in random.Random(name).sample(world.seeds, 3):
        solve(world, game, quick_planner)


def test_a_seed_is_one_task_however_it_is_told_and_another_is_another() -> None:
    for family in families():
        told = [generate(family, degree, (3, 8), 5) for degree in DEGREES]
        for world in told[1:]:
            assert (world.problem, world.domain) == (told[0].problem, told[0].domain)
        assert len({world.domain_text for world in told}) == 3
    problems = set()
    for seed in range(200):
        problems.add(generate("blocksworld", "heavily", (3, 8), seed).problem)
    assert len(problems) > 190


def test_the_reference_goes_on_from_where_the_game_is(
    quick_planner: FastDownward,
) -> None:
    world = Described(world="gripper", sizes=(3, 3))
    memory = [Turn("", world.reset(0).text)]
    task = read_task(*formalize(memory))
    state = task.initial
    for planned in quick_planner.plan(*formalize(memory)).plan:
        memory.append(Turn("", ""))  # a refused command, such as a model's
        command = str(world.command(planned)).replace("ball", "Ball_")
        memory.append(Turn(command, world.step(command).text))
        state = task.successor(state, tuple(planned.strip("()").split()))
        domain, problem = formalize(memory)
        assert read_task(domain, problem).initial.facts == state.facts
        assert reference.problem(memory) == problem
    assert world.won() and task.is_goal(state)


def test_solved_examples_are_the_last_worlds_but_never_the_one_that_is_played() -> None:
    world = Described(world="logistics", sizes=(2, 4))
    shown = [text for text, _ in world.solved(99)]
    assert shown == [_told(seed) for seed in world.seeds[:-51:-1]]
    assert [text for text, _ in world.solved(3)] == shown[:3]
    world.reset(world.seeds[-2])
    assert [text for text, _ in world.solved(2)] == [shown[0], shown[2]]


def _told(seed: int) -> str:
    return generate("logistics", "moderately", (2, 4), seed).problem_text


def test_a_game_starts_anew_and_knows_no_other_game() -> None:
    world = Described(sizes=(3, 3))
    text = world.reset(0).text
    taken = next(
        f"pick-up {thing}"
        for thing in objects_in(problem_of(world))
        if not world.step(f"pick-up {thing}").refused
    )
    assert world.step(taken).refused
    for _ in range(2):
        assert world.reset(0).text == text and not world.step(taken).refused
        assert world.reset(1).text != text


def test_a_refused_action_says_what_does_not_hold() -> None:
    world = Described(sizes=(3, 3))
    world.reset(0)
    for command, said in (
        ("stack block1 block2", "(holding block1) does not hold"),
        ("pick-up block9", "There is no block9 in this world"),
        ("pick-up", "pick-up has 1 parameters, and 'pick-up' names 0 things"),
        (
            "fly block1",
            "'fly block1' is none of the actions pick-up, put-down, stack, unstack",
        ),
        ("", "'' is none of the actions"),
    ):
        seen = world.step(command)
        assert seen.refused and said in seen.feedback
    assert world.command("(STACK Block1 BLOCK_2)") == "stack block1 block_2"
    assert world.command("(stack block1)") is None and world.command("()") is None


def test_the_names_are_those_that_the_texts_tell() -> None:
    world = Described(world="logistics", sizes=(2, 2))
    text = world.reset(3).text
    assert set(world.names([Turn("", text)]).objects) == set(
        objects_in(problem_of(world))
    )
    assert world.names([Turn("", "Only package 1 and Truck-1.")]).objects == (
        "package1",
        "truck1",
    )
    assert world.names([Turn("", "package 11 and subpackage 1")]).objects == ()


# ---- Gold files with constants

DEPOT = """(define (domain depot) (:requirements :strips :typing)
 (:types robot place) (:constants Arm - robot base - place)
 (:predicates (at ?r - robot ?p - place) (road ?a ?b - place) (done))
 (:action go :parameters (?r - robot ?a ?b - place)
  :precondition (and (at ?r ?a) (road ?a ?b)) :effect (and (not (at ?r ?a)) (at ?r ?b)))
 (:action finish :parameters (?r - robot) :precondition (at ?r base) :effect (done)))"""
UNTYPED = re.sub(" - (robot|place)|.:types robot place.", "", DEPOT)
FAR = "(:objects p1 p2 - place) (:init (at Arm p1) (road p1 p2) (road p2 base))"
HEADS = ";; Action Heads\ngo (?r - robot ?a - place ?b - place)\nfinish (?r - robot)"


@pytest.mark.parametrize(
    ("domain", "rest", "objects"),
    [
        (DEPOT, FAR, ("Arm", "base", "p1", "p2")),
        (DEPOT, "(:init (at arm base))", ("Arm", "base")),
        (UNTYPED, FAR.replace(" - place", ""), ("Arm", "base", "p1", "p2")),
    ],
    ids=["beside objects", "alone", "without types"],
)
def test_constants_of_the_gold_domain_are_objects_of_the_world(
    domain: str,
    rest: str,
    objects: tuple[str, ...],
    tmp_path: Path,
    quick_planner: FastDownward,
) -> None:
    (tmp_path / "domain.pddl").write_text(domain, encoding="utf-8")
    needs = "(:requirements :strips)"
    problem = f"(define (problem one) (:domain depot) {needs} {rest} (:goal (done)))"
    (tmp_path / "p01.pddl").write_text(problem, encoding="utf-8")
    (tmp_path / "p01_domain.txt").write_text(
        f"Arm brings things to base.\n\n{HEADS}", encoding="utf-8"
    )
    (tmp_path / "p01_problem.txt").write_text(
        "Roads lead from p1 to p2 and on to base.", encoding="utf-8"
    )
    world = Described(folder=tmp_path)
    assert world.names([Turn("", world.reset(0).text)]).objects == objects
    method, model = Formalizer(), Scripted([json.dumps({"df": domain, "pf": problem})])
    assert play(method, world, model, quick_planner, game=0)[0] == "success"


# ---- Folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two worlds of ours, in the published layout."""
    plant_worlds(tmp_path, 2)
    return tmp_path


def test_a_folder_is_played_in_the_order_of_its_names(folder: Path) -> None:
    world = Described(folder=folder)
    assert world.seeds == range(2)
    texts = [world.reset(game).text for game in (0, 1, 0)]
    assert texts[0] == texts[2] != texts[1]
    assert (folder / "p01_problem.txt").read_text(encoding="utf-8") in texts[1]
    assert world.task_type == folder.name


def test_worlds_with_one_start_and_goal_have_one_map(folder: Path) -> None:
    world = Described(folder=folder)
    world.reset(0)
    before = world.map
    lines = (folder / "p00.pddl").read_text(encoding="utf-8").splitlines()
    (folder / "p00.pddl").write_text(
        "\n".join([*lines[:3], *reversed(lines[3:-1]), lines[-1]]), encoding="utf-8"
    )
    other = Described(folder=folder)
    other.reset(1)
    assert other.map != before
    assert Described(sizes=(3, 3), text="heavily").map == Described(sizes=(3, 3)).map


def test_heads_are_matched_by_name_and_then_by_position(
    folder: Path, quick_planner: FastDownward
) -> None:
    for path in folder.glob("*_domain.txt"):
        text = (
            path.read_text(encoding="utf-8")
            .replace("\npick-up (", "\ngrasp (")
            .replace("\nstack (", "\npile (")
        )
        path.write_text(text, encoding="utf-8")
    world = Described(folder=folder)
    solve(world, 0, quick_planner)
    assert [action.name for action in world.actions] == [
        "grasp",
        "put-down",
        "pile",
        "unstack",
    ]
    assert "(:action grasp" in world.domain and "(:action pick-up" not in world.domain


HEADS_ARE = "Blocks.\n;; Action Heads\n"
# a file, its text, what is said
HOSTILE: dict[str, tuple[str, bytes | str | None, str]] = {
    "no gold problem": ("p01.pddl", None, "p01.pddl cannot be read: No such file"),
    "no gold domain": ("domain.pddl", None, "domain.pddl cannot be read: No such file"),
    "no domain text": ("p01_domain.txt", None, "p01_domain.txt cannot be read"),
    "wrong encoding": (
        "p01_problem.txt",
        "Blöcke".encode("utf-16"),
        "problem.txt is not UTF-8",
    ),
    "too long": (
        "p01_problem.txt",
        "block " * 2_000_000,
        "p01_problem.txt has more than 200,000 bytes",
    ),
    "no heads": (
        "p01_domain.txt",
        "Blocks.",
        "p01_domain.txt ends without ';; Action Heads'",
    ),
    "a head that is none": (
        "p01_domain.txt",
        f"{HEADS_ARE}stack a on b",
        "p01_domain.txt: 'stack a on b' is not an",
    ),
    "heads with commas": (
        "p01_domain.txt",
        f"{HEADS_ARE}stack (?b - block, ?under - block)",
        "in the action head 'stack (?b - block, ?under - block)', `block,` has",
    ),
    "heads with colons": (
        "p01_domain.txt",
        f"{HEADS_ARE}pick-up (?b: block)",
        "`?b:` has a colon",
    ),
    "heads that do not match": (
        "p01_domain.txt",
        f"{HEADS_ARE}pick-up (?a - block ?b - block)",
        "the action head pick-up (?a - block ?b - block) fits no action",
    ),
    "more heads than actions": (
        "p01_domain.txt",
        HEADS_ARE + "".join(f"act{n} (?b - block)\n" for n in range(9)),
        "fits no action",
    ),
    "gold is no PDDL": ("p01.pddl", "(define (problem p)", "p01.pddl: "),
    "empty": ("*", None, "holds no worlds"),
    "nowhere": ("", None, "there is no such folder"),
}


@pytest.mark.parametrize(("file", "content", "said"), HOSTILE.values(), ids=HOSTILE)
def test_a_folder_that_cannot_be_used_is_refused_in_a_sentence(
    folder: Path, file: str, content: bytes | str | None, said: str
) -> None:
    if content is not None:
        (folder / file).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    for path in folder.glob(file or "*") if content is None else ():
        path.unlink()
    if not file:
        folder.rmdir()
    with pytest.raises(ConfigError) as refused:
        Described(folder=folder).preflight()
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_a_gold_problem_whose_goal_is_out_of_reach_counts_for_nobody(
    folder: Path,
) -> None:
    text = (folder / "p01.pddl").read_text(encoding="utf-8")
    start, goal = text.split("(:goal ")
    (folder / "p01.pddl").write_text(
        start.replace("(hand-empty)", "") + "(:goal " + goal, encoding="utf-8"
    )
    world = Described(folder=folder)
    world.reset(0)
    with pytest.raises(UnsolvableGame, match="no action can make"):
        world.reset(1)
