"""The page on a pretrained model that is shown solved worlds says what its records say."""

import functools
import re

import pytest

from pddlego_local.environments.described.game import Described
from pddlego_local.planner import FastDownward
from tests.docs.records import ARMS, RESULTS, Cell, arm, cells, counted

PAGE = (RESULTS / "pretrained_examples.md").read_text(encoding="utf-8")
TOLD = " ".join(PAGE.split())
SEARCHED = cells("pretrained_examples/search_records.tar.xz")
PLAYED = cells("pretrained_examples/records.tar.xz")
TRIED = ("environment.world", "environment.sizes", "method.shots", "decoding.temperature")


def of_search(cell: Cell) -> str:
    world, sizes, shots, temperature = map(cell.asks, TRIED)
    valid = f"{counted([cell])[3]} of {len(cell.rows)}"
    return f"| `{world}` | {sizes[0]} or {sizes[1]} | {shots} | {temperature} | {valid} |"


def of_arm(cell: Cell) -> str:
    numbers = " | ".join(map(str, counted([cell])))
    tokens = cell.total("completion_tokens") / cell.total("calls")
    return f"| `{cell.asks('environment.world')}` | `{arm(cell)}` | {numbers} | {tokens:.0f} |"


def test_the_tables_are_those_of_the_records() -> None:
    found = [*map(of_search, SEARCHED), *map(of_arm, PLAYED)]
    assert sorted(re.findall(r"^\| `.*\d \|$", PAGE, re.MULTILINE)) == sorted(found)


def test_it_was_declared_before_the_first_world() -> None:
    starts = [start for cell in PLAYED for start in cell.run["starts"]]
    assert {start["commit"][:8] for start in starts} == {"8d8c73d3"}
    assert all(start["began"] > start["committed"] and not start["dirty"] for start in starts)
    assert all(len(cell.rows) == cell.finished == 80 for cell in PLAYED)
    tasks = {(cell.asks("environment.world"), row["map"]) for cell in PLAYED for row in cell.rows}
    assert f"160 worlds, which have {len(tasks)} tasks" in TOLD


def test_what_happens_to_the_answers() -> None:
    of = {each: [cell for cell in PLAYED if arm(cell) == each] for each in ARMS}
    planned, valid = ({each: counted(of[each])[place] for each in ARMS} for place in (2, 3))
    refused = sum(cell.causes()["translate_error"] for cell in of["free"])
    true = sum(cell.causes()["goal_already_true"] for cell in of["typed"])
    won = {a: {(r["game"], r["task_type"]) for c in of[a] for r in c.rows if r["won"]} for a in of}
    assert won["free"] < won["grounded"] == won["typed"]
    assert f"plan in {len(won['grounded'] - won['free'])} worlds, `free` alone in none" in TOLD
    said = "Of 160 worlds, free answers have a valid plan in {free}, repaired ones in {repair}, and"
    assert f"{said} both rungs in {{typed}}".format(**valid) in TOLD
    assert valid["typed"] == valid["grounded"]
    said = "nothing is refused and {typed} answers have a plan, but the goal of {} of them is true"
    assert said.format(true, **planned) in TOLD
    assert "so only {grounded} answers have a plan".format(**planned) in TOLD
    assert f"refuses {refused} of the 160 free answers" in TOLD


@pytest.mark.long
def test_what_a_copy_of_an_example_would_reach(planner: FastDownward) -> None:
    valid = 0
    for world in ("gripper", "ferry"):
        game = Described(world=world, sizes=(1, 2), text="heavily")
        plan = functools.cache(lambda file, domain=game.domain: planner.plan(domain, file).plan)
        for seed in range(7500, 7580):
            game.reset(seed)
            for _, file in game.solved(8):
                game.reset(seed)
                refused = [game.step(action.strip("()")).feedback for action in plan(file)]
                valid += game.won() and not any(refused)
    assert f"a valid plan in {valid} of 1,280 cases" in TOLD
