"""The worlds in the box, and where games come from: problems, arguments that vary, and
`draw.py`.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pddlego_local
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.folder import read_rows
from pddlego_local.environments.explored.box import in_the_box
from pddlego_local.environments.explored.draws import problem_text
from pddlego_local.environments.explored.world import read_world
from pddlego_local.pddl.state import read_task
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tools.bench.unified import Unified, unified_task

HOUSE = Path(__file__).parents[2] / "examples/house"
BOX = in_the_box()
DRAW = (HOUSE / "p1.pddl").read_text(encoding="utf-8")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(HOUSE, tmp_path / "house")


def add(folder: Path, keys: str) -> None:
    with (folder / "world.yaml").open("a", encoding="utf-8") as file:
        file.write(keys)


def with_draw(folder: Path, code: str, sizes: str = "sizes: [3, 5]\n") -> None:
    (folder / "p1.pddl").unlink()
    (folder / "draw.py").write_text(code, encoding="utf-8")
    add(folder, sizes)


# ---- The worlds in the box


def test_these_worlds_are_in_the_box() -> None:
    assert [*BOX] == ["coin", "depots", "elevator", "ferry", "grid", "office", "vault"]


@pytest.mark.parametrize("name", BOX)
def test_each_world_says_what_random_walks_found(name: str) -> None:
    checked = read_world(BOX[name]).file.checked
    assert checked and checked.walks == 40


@pytest.mark.parametrize("renamed", ["false", "true"])
@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_edit"])
@pytest.mark.parametrize("name", BOX)
def test_the_reference_wins_each_world(
    name: str, method: str, renamed: str, tmp_path: Path
) -> None:
    words = [
        *("environment=explored", f"environment.world={name}", "model=reference"),
        *(f"method={method}", f"environment.renamed={renamed}", "games=0-1"),
        f"run.out={tmp_path / 'out'}",
    ]
    result = run_cell(compose_cell(words))
    assert result.faults == []
    rows = read_rows(result.folder / "episodes.jsonl")
    assert [row.success for row in rows] == [True, True]
    for row in rows:
        assert row.refused == row.solver_errors == row.edit_faults == 0
        assert row.map and row.task_type == name


@pytest.mark.parametrize("name", BOX)
def test_the_judge_is_as_unified_planning_has_it(name: str) -> None:
    world = read_world(BOX[name])
    smallest = {"sizes": (world.file.sizes or (1, 1))[:1] * 2}
    world = replace(world, file=world.file.model_copy(update=smallest))
    for seed in range(2):
        problem = problem_text(world, seed)
        task = read_task(world.domain_text, problem)
        unified = unified_task(world.domain_text, problem)
        assert isinstance(unified, Unified), unified
        state, chance = task.initial, random.Random(seed)
        for _ in range(12):
            possible = [*task.applicable(state)]
            others = [
                (name, *chance.choices(sorted(task.objects), k=len(things)))
                for name, *things in possible
            ]
            assert unified.difference(state, [*possible, *others], task) == ""
            state = task.successor(state, chance.choice(possible))


@pytest.mark.parametrize("name", BOX)
def test_the_drawn_games_can_be_won(name: str, planner: FastDownward) -> None:
    world = read_world(BOX[name])
    for seed in range(8):
        result = planner.plan(world.domain_text, problem_text(world, seed))
        assert result.outcome == "solved", (seed, result.message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give one of world=NAME"),
        (["world=coin", f"folder={HOUSE}"], "give one of world=NAME"),
        (["world=cion"], "did you mean coin? The worlds in the box are coin, depots"),
        ([f"folder={HOUSE}", "sizes=[1,2]"], "only draw.py is given a size"),
    ],
)
def test_a_world_is_in_the_box_or_in_a_folder(options: list[str], message: str) -> None:
    words = [f"environment.{option}" for option in options]
    with pytest.raises(ConfigError, match=re.escape(message)):
        compose_cell(["environment=explored", *words]).build("environment")


def test_sizes_may_be_other_than_those_of_the_world() -> None:
    counts = set()
    for sizes in ("[2,2]", "[9,9]"):
        words = ["environment=explored", "environment.world=ferry"]
        cell = compose_cell([*words, f"environment.sizes={sizes}"])
        text = cell.build("environment").reset(0).text.lower()
        counts.add(len(set(re.findall(r"island \d+", text))))
    assert counts == {4, 11}


# ---- Which problem a seed plays

TEXTS = """
import sys
from pathlib import Path
from typing import Any
from pddlego_local.environments.explored.draws import problem_text
from pddlego_local.environments.explored.world import read_world
for folder in sys.argv[1:]:
    world = read_world(Path(folder))
    print(*(problem_text(world, seed) for seed in range(3)))
"""


def test_a_seed_has_the_same_text_in_every_process(house: Path) -> None:
    add(house, "vary: {in: r}\n")
    folders = [house, *BOX.values()]
    told = {
        subprocess.run(
            [sys.executable, "-c", TEXTS, *map(str, folders)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    (text,) = told
    assert text.count(b"(define (problem") == 3 * len(folders)


def test_what_varies_is_elsewhere_for_each_seed(house: Path) -> None:
    add(house, "vary: {in: r}\n")
    world = read_world(house)
    told = {problem_text(world, seed) for seed in range(40)}
    places = {re.search(r"\(in torch (\w+)\) \(in coin (\w+)\)", text) for text in told}
    rooms = ("hall", "living_room", "room3")
    assert {(match[1], match[2]) for match in places if match} == {
        (torch, coin) for torch in rooms for coin in rooms
    }


def test_a_draw_that_cannot_be_won_is_drawn_again(house: Path) -> None:
    problem = house / "p1.pddl"
    one_way = DRAW.replace("(beside living_room room3)", "")
    problem.write_text(one_way, encoding="utf-8")
    add(house, "vary: {in: r}\n")
    world = read_world(house)
    assert not any("torch room3" in problem_text(world, seed) for seed in range(20))
    problem.write_text(one_way.replace("(at hall)", ""), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"vary: 100 draws for game 7 gave none that"):
        problem_text(read_world(house), 7)


def test_without_draws_a_seed_beyond_the_problems_is_refused(house: Path) -> None:
    with pytest.raises(ConfigError, match="has no game 1; its games are 0 to 0"):
        problem_text(read_world(house), 1)
    cell = compose_cell(["environment=explored", f"environment.folder={house}"])
    with pytest.raises(ConfigError, match="has no game 1"):
        cell.build("environment").reset(1)


GOOD = "def draw(size, random):\n    return {!r}.replace('(in coin hall)', '')"


@pytest.mark.parametrize(
    ("code", "sizes", "message"),
    [
        ("x = 1", "sizes: [1, 2]", "it needs a function draw(size, random)"),
        ("import nothing_of_this_name", "sizes: [1, 2]", "ModuleNotFoundError"),
        (GOOD, "", "sizes: draw.py needs the least and the greatest size"),
        (GOOD, "sizes: [3, 2]", "sizes: draw.py needs the least and the greatest size"),
        ("def draw(size): pass", "sizes: [1, 1]", "draw(1, random) for game 0 fails"),
        ("def draw(a, b): pass", "sizes: [1, 1]", "returns no text of a problem"),
        ("def draw(a, b): return 'x'", "sizes: [1, 1]", "draw.py: draw(1, random) for"),
    ],
)
def test_a_mistake_in_a_draw_is_one_sentence(
    code: str, sizes: str, message: str, house: Path
) -> None:
    with_draw(house, code.replace("{!r}", repr(DRAW)), f"{sizes}\n")
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        problem_text(read_world(house), 0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("vary: {above: r}", "vary.above: there is no such predicate; there are at"),
        ("vary: {in: x}", "vary.in: x is none of its parameters t, r"),
        ("vary: {held: t}", "vary.held: a problem states no such fact"),
        ("sizes: [1, 2]", "sizes: only draw.py is given a size"),
    ],
)
def test_a_mistake_in_the_keys_of_a_draw_is_one_sentence(
    keys: str, message: str, house: Path
) -> None:
    add(house, f"{keys}\n")
    with pytest.raises(ConfigError, match=re.escape(message)):
        problem_text(read_world(house), 0)


def test_games_come_from_one_source(house: Path) -> None:
    (house / "draw.py").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"draw\.py and p1\.pddl: games come"):
        problem_text(read_world(house), 0)
    (house / "draw.py").unlink()
    (house / "p1.pddl").unlink()
    with pytest.raises(ConfigError, match="holds no problem files"):
        problem_text(read_world(house), 0)


# ---- An edit while a cell is unfinished


@pytest.mark.parametrize("file", ["domain.pddl", "world.yaml", "p2.pddl", "draw.py"])
def test_an_edited_world_does_not_continue_a_cell(
    file: str, house: Path, tmp_path: Path
) -> None:
    if file == "draw.py":
        with_draw(house, GOOD.replace("{!r}", repr(DRAW)))
    else:
        shutil.copy(house / "p1.pddl", house / "p2.pddl")
    options: dict[str, Any] = {
        "environment": "explored",
        "environment__folder": str(house),
        "model": "reference",
        "method": "pddl_edit",
        "run__out": tmp_path / "out",
    }
    (cell,) = pddlego_local.run(**options, games="0")
    with (house / file).open("a", encoding="utf-8") as edited:
        edited.write("\n")
    with pytest.raises(ConfigError, match=f"other code in {re.escape(file)}"):
        pddlego_local.run(**options, games="0-1")
    assert len(pddlego_local.load(cell)) == 1
