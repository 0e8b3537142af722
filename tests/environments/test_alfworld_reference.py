"""The rule-based player of ALFWorld: what it reads, what it writes, and whole games
that it wins.

Games of our own making, one of every kind.
"""

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
from pddl.parser.problem import ProblemParser

from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Turn
from pddlego_local.core.record.folder import read_rows
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.environments.alfworld.game import TABLES, spelled
from pddlego_local.environments.alfworld.games import TASK_TYPES
from pddlego_local.environments.alfworld.installation import find_package
from pddlego_local.environments.alfworld.reference import formalize, problem, subgoals
from pddlego_local.environments.alfworld.room_map import RoomMap
from pddlego_local.environments.alfworld.task import Task, goals, parse_task
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell

Memory = list[Turn]


def remembered(task: str, *turns: tuple[str, str]) -> Memory:
    look = (
        "You are in the middle of a room. Looking quickly around you, you see a drawer"
        " 2, a drawer 1, a countertop 1, a fridge 1, a microwave 1, a sinkbasin 1, and"
        " a toaster 1."
    )
    return [
        Turn("look around", f"{look}\n\nYour task is to: {task}."),
        *(Turn(*t) for t in turns),
    ]


COUNTER = (
    "go to countertop 1",
    "You arrive at countertop 1. On the countertop 1, you see a mug 1.",
)
TAKEN = ("take mug 1 from countertop 1", "You pick up the mug 1 from the countertop 1.")
DRAWER = ("go to drawer 1", "You arrive at drawer 1. The drawer 1 is closed.")
OPENED = (
    "open drawer 1",
    "You open the drawer 1. The drawer 1 is open. In it, you see nothing.",
)
STUCK = ("go to drawer 2", "Nothing happens.")
OTHERS = [
    (f"go to {place}", f"You arrive at {place}. On the {place}, you see nothing.")
    for place in ("countertop 1", "sinkbasin 1", "toaster 1", "fridge 1", "microwave 1")
]


# ---- The task sentence


@pytest.mark.parametrize(
    ("sentence", "task"),
    [
        (
            "Put a hot slice of tomato in desk",
            Task("heat", "tomato", "desk", sliced=True),
        ),
        ("find two cd and put them in safe.", Task("put", "cd", "safe", count=2)),
        ("examine the bowl with the desklamp.", Task("look", "bowl", lamp="desklamp")),
    ],
)
def test_it_reads_the_task(sentence: str, task: Task) -> None:
    assert parse_task(sentence) == task


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "put all mugs in fridge.",
        "put a mug of apple in fridge",
        "put apple mug in fridge",
        "put a mug",
        "put a mug in fridge and then dance",
    ],
)
def test_it_refuses_what_is_no_task(sentence: str) -> None:
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        parse_task(sentence)


def test_it_reads_all_sentences_that_alfworld_fills_in() -> None:
    kinds = {f"pick_{verb}_then_place_in_recep" for verb in ("clean", "heat", "cool")}
    kinds |= {"pick_and_place_simple", "pick_two_obj_and_place", "look_at_obj_in_light"}
    library = runpy.run_path(str(find_package() / "gen" / "goal_library.py"))["gdict"]
    for kind, entry in library.items():
        for template in entry["templates"]:
            sentence = template.format(
                obj="apple", recep="desk", toggle="desklamp", mrecep="bowl"
            )
            if kind.removesuffix("_slice") not in kinds:
                with pytest.raises(EnvironmentFault):
                    parse_task(sentence)
                continue
            task = parse_task(sentence)
            assert (task.object, task.receptacle or task.lamp[:4]) == ("apple", "desk")
            assert task.sliced == kind.endswith("_slice")
            assert (task.count == 2) == ("two" in kind) and (task.kind == "look") == (
                "look" in kind
            )
            assert kind.startswith(f"pick_{task.kind}_") == (
                task.kind in ("clean", "heat", "cool")
            )


# ---- The map


def test_an_object_in_the_hand_is_nowhere_else() -> None:
    toaster = (
        "go to toaster 1",
        "You arrive at toaster 1. On the toaster 1, you see a mug 1.",
    )
    room = RoomMap.of(
        remembered("put a mug in fridge", toaster, COUNTER, TAKEN, toaster)
    )
    assert room.held == "mug 1" and room.where("mug 1") == ""
    assert room.inside == {"toaster 1": [], "countertop 1": []}


def test_what_was_heated_and_cooled_is_cool() -> None:
    heated = (
        "heat mug 1 with microwave 1",
        "You heat the mug 1 using the microwave 1.",
    )
    cooled = ("cool mug 1 with fridge 1", "You cool the mug 1 using the fridge 1.")
    room = RoomMap.of(remembered("put a mug in fridge", COUNTER, TAKEN, heated, cooled))
    assert (room.treated["heat"], room.treated["cool"]) == (set(), {"mug 1"})


def test_what_lies_in_a_receptacle_that_was_closed_again_is_remembered() -> None:
    opened = "You open the drawer 1. The drawer 1 is open. In it, you see a mug 1."
    closed = ("close drawer 1", "You close the drawer 1.")
    memory = remembered(
        "put a mug in fridge", DRAWER, ("open drawer 1", opened), closed
    )
    assert "(in mug1 drawer1)" in problem(memory) and "(closed drawer1)" in problem(
        memory
    )


def test_a_receptacle_at_the_same_spot_is_seen_by_leaving_and_coming_back(
    planner: FastDownward,
) -> None:
    memory = remembered("put a mug in fridge", *OTHERS, DRAWER, OPENED, STUCK)
    commands = [command_of(action) for action in planner.plan(*formalize(memory)).plan]
    assert commands[1:] == ["go to drawer 2"] and "drawer" not in commands[0]
    for goal in goals(memory):
        files = TABLES.domain, with_goal(problem(memory), goal.pddl)
        if by_hand := planner.plan(*files).plan:
            break
    assert [command_of(action) for action in by_hand][1:] == ["go to drawer 2"]


def test_what_is_not_offered_from_here_shares_this_spot() -> None:
    memory = remembered("put a mug in fridge", COUNTER, DRAWER)
    offered = [f"go to {place}" for place in RoomMap.of(memory).receptacles]
    assert RoomMap.of(memory[:1], offered).spots == {}
    away = [
        command for command in offered if not command.endswith(("drawer 1", "drawer 2"))
    ]
    room = RoomMap.of(memory, away)
    assert room.spots.keys() == {"drawer 1", "drawer 2"} and room.here == "drawer 1"
    assert room.beside("drawer 1", "drawer 2")


# ---- PDDLego's sub-goals


def explored_next(memory: Memory) -> str:
    """The sub-goal that names a place; the two after it take any."""
    named, *anywhere = goals(memory)[-3:]
    assert [goal.words for goal in anywhere] == [
        "look into a closed receptacle",
        "be at a receptacle that is not visited yet",
    ]
    return named.words


def test_surfaces_are_explored_before_what_is_closed_and_this_spot_comes_last() -> None:
    task = "put a mug in fridge"
    assert explored_next(remembered(task)) == "be at countertop 1"
    assert explored_next(remembered(task, DRAWER)) == "look into drawer 1"
    assert explored_next(remembered(task, DRAWER, OPENED)) == "be at countertop 1"
    assert explored_next(remembered(task, *OTHERS)) == "be at drawer 2"
    memory = remembered(task, *OTHERS[:-1], DRAWER, OPENED, STUCK)
    assert explored_next(memory) == "be at microwave 1"
    assert explored_next(remembered(task, COUNTER, TAKEN)) == "be at fridge 1"


# ---- What it writes


def memories() -> Iterator[Memory]:
    tasks = (
        "heat some mug and put it in drawer",
        "put two mug in drawer",
        "put sliced egg in drawer",
    )
    for task in tasks:
        memory = remembered(task, COUNTER, TAKEN, DRAWER, STUCK)
        yield from (memory[:length] for length in range(1, len(memory) + 1))


@pytest.mark.parametrize("memory", memories())
def test_every_reader_takes_it(memory: Memory) -> None:
    domain, text = formalize(memory)
    for files in ((domain, text), (TABLES.domain, problem(memory))):
        assert check(*files).accepted
        assert accepts(load("domain"), files[0]) and accepts(load("problem"), files[1])
    assert ProblemParser()(text).domain_name == "household"
    for goal in goals(memory):
        assert check(TABLES.domain, with_goal(problem(memory), goal.pddl)).accepted


def test_it_says_what_remains() -> None:
    task = "heat some mug and put it in drawer"
    find, heat = "find and take a mug", "heat the mug with a microwave"
    put = "put the mug in/on a drawer"
    assert subgoals(remembered(task)) == (find, heat, put)
    assert subgoals(remembered(task, COUNTER, TAKEN)) == (heat, put)
    heated = (
        "heat mug 1 with microwave 1",
        "You heat the mug 1 using the microwave 1.",
    )
    assert subgoals(remembered(task, COUNTER, TAKEN, heated)) == (put,)
    moved = ("move mug 1 to drawer 1", "You move the mug 1 to the drawer 1.")
    assert subgoals(remembered(task, COUNTER, TAKEN, heated, moved)) == ()


def test_a_sub_goal_that_holds_is_true_already(planner: FastDownward) -> None:
    memory = remembered("heat some mug and put it in drawer", COUNTER, TAKEN)
    assert (
        planner.plan(*formalize(memory, "find and take a mug")).outcome
        == "goal_already_true"
    )
    plan = planner.plan(*formalize(memory, "heat the mug with a microwave")).plan
    heated = ["go to microwave 1", "heat mug 1 with microwave 1"]
    assert [command_of(action) for action in plan] == heated
    with pytest.raises(KeyError):
        formalize(memory, "dance")


def command_of(action: str) -> str:
    return TABLES.command(action, spelled) or f"no action: {action}"


def with_goal(text: str, goal: str) -> str:
    return text[: text.index("(:goal")] + f"(:goal {goal}))"


@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_edit", "deps"])
def test_it_wins_a_game_of_every_kind(method: str, tmp_path: Path) -> None:
    games = f"games=0-{len(TASK_TYPES) - 1}"
    words = [f"method={method}", "environment=alfworld", games, f"run.out={tmp_path}"]
    result = run_cell(compose_cell(words))
    rows = read_rows(result.folder / "episodes.jsonl")
    assert len(rows) == len(TASK_TYPES)
    for row in rows:
        assert row.won and not row.refused and not row.solver_errors, row
