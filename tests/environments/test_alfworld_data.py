"""ALFWorld's data set: found, read, rebuilt where it is old, and never written to.

The first half plays a data set made by the test; the second the real one, if
ALFWORLD_DATA names a folder that `alfworld-download` filled. A few seconds for the
first, ten for the second.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.cli import run
from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.environments.alfworld.data import find_games, read_game
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.alfworld.games import PLAIN_TYPES, TASK_TYPES, make_game
from pddlego_local.environments.alfworld.process import GameProcess
from pddlego_local.runner.config import compose_cell
from tests.environments import alfworld_files
from tools.bench import replay_alfworld

REAL = os.environ.get("ALFWORLD_DATA", "")
needs_real_data = pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no data set")


def digest(folder: Path) -> str:
    """Of all paths, contents and times of change below a folder."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        whole.update(f"{path} {path.stat().st_mtime_ns}".encode())
        if path.is_file():
            whole.update(path.read_bytes())
    return whole.hexdigest()


class DataSet:
    """A data set in the layout of `alfworld-download`, of games of our own making."""

    def __init__(self, root: Path, process: GameProcess | None = None) -> None:
        """All environments play in the `process`, which takes a second to start."""
        self.root, self.process = root, process
        self.split = root / "json_2.1.1" / "valid_seen"

    def add(self, task_type: str, *, seed: int = 0, **changes: Any) -> Path:
        """Writes a game; `changes` are those of `alfworld_files.write`."""
        return alfworld_files.write(
            self.split, make_game(seed, task_type), seed, **changes
        )

    def environment(self, *task_types: str) -> Alfworld:
        kinds = task_types or PLAIN_TYPES
        environment = Alfworld(data=self.root, split="valid_seen", task_types=kinds)
        environment._process = self.process or environment._process
        return environment


@pytest.fixture
def data(tmp_path: Path, heat: Alfworld) -> DataSet:
    return DataSet(tmp_path, heat._process)


def old(grammar: str) -> str:
    """A grammar as game files had it before ALFWorld 0.4."""
    return grammar.replace("move {o} to {r}", "put {o} in/on {r}")


def test_an_old_game_is_played_with_the_new_commands_and_its_own_sentence(
    data: DataSet,
) -> None:
    game = make_game(0, PLAIN_TYPES[0])
    trial = data.add(PLAIN_TYPES[0], grammar=old(game.grammar))
    before = digest(data.root)
    environment = data.environment()
    task = re.search(r"Your task is to: [^\"]+?\.", game.grammar)
    assert task and environment.reset(0).text.endswith(task[0])
    commands = alfworld_files.walkthrough(game)
    seen = [environment.step(command) for command in commands]
    assert any(command.startswith("move ") for command in commands)
    assert environment.won() and seen[-1].success
    assert digest(data.root) == before
    assert read_game(trial).grammar == game.grammar


def test_a_current_game_is_taken_as_it_is(data: DataSet) -> None:
    game = make_game(0, PLAIN_TYPES[0])
    odd = game.grammar.replace("You arrive at", "You come to")
    assert read_game(data.add(PLAIN_TYPES[0], grammar=odd)).grammar == odd


def test_games_in_one_room_of_alfred_have_one_map(data: DataSet) -> None:
    """Whatever the task and what lies where. A data set made elsewhere may not say its
    rooms.
    """
    kind = "pick_clean_then_place_in_recep+slice"
    seeds: dict[str, list[int]] = {}
    for seed in range(40):
        seeds.setdefault(make_game(seed, kind).floor_plan, []).append(seed)
    most, *_, fewest = sorted(seeds.values(), key=len, reverse=True)
    data.add(kind, seed=most[0])
    data.add(kind, seed=most[1], file=False)
    data.add(kind, seed=fewest[0])
    environment = data.environment(kind)
    maps: dict[str, set[str]] = {}
    for number, trial in enumerate(find_games(data.split, (kind,))):
        environment.reset(number)
        maps.setdefault(read_game(trial).floor_plan, set()).add(environment.map)
    (of_one_room,), (of_another,) = maps.values()
    assert of_one_room != of_another
    for file in data.split.rglob("traj_data.json"):
        trajectory = json.loads(file.read_text(encoding="utf-8"))
        trajectory["scene"] = None
        file.write_text(json.dumps(trajectory), encoding="utf-8")
    environment = data.environment(kind)
    environment.reset(0)
    assert environment.map == ""


def test_a_slice_without_a_game_file_is_made_from_what_there_is(data: DataSet) -> None:
    kind = "pick_heat_then_place_in_recep+slice"
    data.add(kind, file=False)
    data.add(PLAIN_TYPES[0], file=False, seed=1)  # ALFWorld has no such game either
    environment = data.environment(kind, PLAIN_TYPES[0])
    first = environment.reset(0)
    assert "slice" in first.text
    assert environment.task_type == kind
    for command in alfworld_files.walkthrough(make_game(0, kind)):
        environment.step(command)
    assert environment.won()
    assert data.environment(kind).reset(0) == first
    with pytest.raises(ConfigError, match=r"no game 1.* has 1 games"):
        environment.reset(1)


def test_games_without_a_solution_are_named_so_and_the_next_one_is_played(
    data: DataSet,
) -> None:
    whole = make_game(2, PLAIN_TYPES[2])
    start, goal = whole.problem.split("(:goal")
    nowhere = re.sub(r"\(receptacleType \?r \w+\)", "(receptacleType ?r BedType)", goal)
    data.add(PLAIN_TYPES[0], solvable=False)
    data.add(PLAIN_TYPES[2], seed=2, pddl_problem=f"{start}(:goal{nowhere}")
    data.add(PLAIN_TYPES[1], seed=1)
    environment = data.environment(PLAIN_TYPES[0], PLAIN_TYPES[2])
    with pytest.raises(UnsolvableGame, match="marks it"):
        environment.reset(0)
    with pytest.raises(UnsolvableGame, match="cannot be reached"):
        environment.reset(1)
    with pytest.raises(UnsolvableGame, match="cannot be reached"):
        environment.reset(1)
    environment.task_types, environment._trials = (PLAIN_TYPES[1],), ()
    assert "Your task is to: " in environment.reset(0).text


def test_games_are_sorted_and_of_the_selected_types(data: DataSet) -> None:
    trials = [data.add(kind, seed=seed) for seed in (1, 0) for kind in TASK_TYPES]
    assert find_games(data.split, TASK_TYPES) == tuple(sorted(trials))
    found = find_games(data.split, PLAIN_TYPES[3:4])
    assert [read_game(trial).task_type for trial in found] == [PLAIN_TYPES[3]] * 2


@pytest.mark.parametrize("file", ["traj_data.json", "game.tw-pddl"])
@pytest.mark.parametrize("content", ["", "[]", '{"grammar": "x"}', "\xff"])
def test_a_damaged_file_is_named(data: DataSet, file: str, content: str) -> None:
    trial = data.add(PLAIN_TYPES[0])
    (trial / file).write_bytes(content.encode("latin-1"))
    with pytest.raises(
        ConfigError, match=r"environment.data: .*trial_0.*download it again"
    ):
        data.environment().reset(0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (["environment.split=test"], "only: valid_seen"),
        (["environment.task_types=[]"], "environment.task_types"),
        (["environment.limits.step_s=0"], "environment.limits.step_s"),
    ],
)
def test_the_users_mistakes_are_named(
    changes: list[str], told: str, data: DataSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.add(PLAIN_TYPES[0])
    monkeypatch.setenv("ALFWORLD_DATA", str(data.root))
    compose_cell(["environment=alfworld_real"]).build("environment")
    with pytest.raises(ConfigError, match=re.escape(told)):
        compose_cell(["environment=alfworld_real", *changes]).build("environment")


def test_the_real_data_set_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", "")
    with pytest.raises(ConfigError, match=r"^environment.data: .*set ALFWORLD_DATA"):
        compose_cell(["environment=alfworld_real"]).build("environment")
    monkeypatch.delenv("ALFWORLD_DATA")
    with pytest.raises(ConfigError, match=r"^environment.data: .*set ALFWORLD_DATA"):
        compose_cell(["environment=alfworld_real"]).build("environment")
    compose_cell(["environment=alfworld"]).build("environment")


def test_a_split_without_such_games_is_said_so(data: DataSet) -> None:
    data.add(PLAIN_TYPES[0])
    with pytest.raises(ConfigError, match=f"no game of the types {PLAIN_TYPES[1]}"):
        data.environment(PLAIN_TYPES[1]).reset(0)


def test_wins_of_records_are_replayed_in_plain_alfworld(
    data: DataSet,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Then a record lacks what was done last, and the tool says so."""
    for task_type in PLAIN_TYPES[:2]:
        data.add(task_type)
    monkeypatch.setenv("ALFWORLD_DATA", str(data.root))
    options = ["environment=alfworld_real", "method=pddl_edit", "model=reference"]
    assert run(["run", *options, "games=0-1", f"run.out={tmp_path / 'runs'}"]) == 0
    monkeypatch.setattr("sys.argv", ["replay_alfworld", str(tmp_path / "runs")])
    assert replay_alfworld.main() == 0 and "| 2 | 2 |" in capsys.readouterr().out
    (transcript,) = (tmp_path / "runs").rglob("transcripts/1-0.jsonl")
    lines = transcript.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(
        n for n, line in enumerate(lines) if json.loads(line)["event"] == "action"
    )
    transcript.write_text("".join(lines[:last] + lines[last + 1 :]), encoding="utf-8")
    assert replay_alfworld.main() == 1 and "| 2 | 1 | [1] |" in capsys.readouterr().out


@pytest.fixture(scope="module")
def real() -> Iterator[Alfworld]:
    environment = Alfworld(data=Path(REAL), split="valid_seen")
    yield environment
    environment.close()


@needs_real_data
def test_real_games_are_won_by_their_walkthrough_and_nothing_is_written(
    real: Alfworld,
) -> None:
    assert real._folder is not None
    trials = find_games(real._folder, PLAIN_TYPES)
    before = digest(real._folder)
    for seed in range(0, len(trials), max(1, len(trials) // 5)):
        content = json.loads(
            (trials[seed] / "game.tw-pddl").read_text(encoding="utf-8")
        )
        first = real.reset(seed)
        task = re.search(r"Your task is to: [^\"]+?\.", content["grammar"])
        assert task and first.text.endswith(task[0])
        for command in content["walkthrough"]:
            assert not real.step(command).refused
        assert real.won()
        assert trials[seed].parent.name.startswith(real.task_type)
    assert digest(real._folder) == before
