"""Sweeps as one pool of work: killed, limited, interrupted, and always with the same
rows.
"""

import time
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.record.folder import Cell
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.report.cells import find_cells
from pddlego_local.report.text import missing_markdown, unfinished
from pddlego_local.runner.cell import CellResult, OpenCell
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.run import run_cells
from pddlego_local.runner.sweep import read_compare, read_sweeps, write_sweep
from tests.given import give
from tests.pddlego import Pddlego
from tests.processes import finish, interrupt, start
from tests.sweeping import Meeting
from tools.chaos.sweeps import rows_of as rows

CELLS = ("environment.rooms=3", "environment.rooms=5")


def configs(out: Path, *overrides: str) -> list[CellConfig]:
    return [
        compose_cell([f"run.out={out}", "games=0-2", *overrides, cell])
        for cell in CELLS
    ]


def play(
    model: object, cells: list[CellConfig], patch: pytest.MonkeyPatch
) -> list[CellResult]:
    give(model, patch)
    results: list[CellResult] = []
    run_cells(cells, results.append)
    return results


def test_the_last_episode_of_a_cell_overlaps_the_next_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Game 0 of three rooms cannot end before game 1 of five rooms has begun."""
    model = Meeting(
        "To the East you see a closed plain door. To the West you see", "sliding patio"
    )
    together, alone = tmp_path / "together", tmp_path / "alone"
    results = play(model, configs(together, "run.concurrency=2"), monkeypatch)
    assert model.__dict__["met"] and model.__dict__["most"] == 2
    assert [(result.played, result.faults, result.left) for result in results] == [
        (3, [], 0)
    ] * 2
    play(ReferenceFormalizer(), configs(alone, "run.concurrency=1"), monkeypatch)
    assert rows(alone) == rows(together)


def test_a_cell_asked_for_twice_is_played_once(tmp_path: Path) -> None:
    words = [f"run.out={tmp_path}", "environment.rooms=3", "games=0-1"]
    cells = [compose_cell([*words, f"trials={trials}"]) for trials in (1, 2)]
    results: list[CellResult] = []
    run_cells(cells, results.append)
    assert [result.played for result in results] == [2, 2]
    (played,) = rows(tmp_path).values()
    assert [(row.game, row.trial) for row in played] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_two_folders_of_one_name_are_not_taken_for_one_cell(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    for name in "ab":
        (tmp_path / name / "last").mkdir(parents=True)
    first, second = f"{tmp_path}/a/last", f"{tmp_path}/b/last"
    words = ["run", "-m", f"run.out={tmp_path}/runs", "model=nano_early"]
    told = pddlego(*words, f"model.weights={first},{second}", code=2).err
    assert f"model.weights: {first} and {second} would be the same cell" in told
    assert not (tmp_path / "runs").exists()
    told = pddlego(*words, f"model.weights={first},{first}/", code=2).err
    assert "would be the same cell" not in told  # it is one folder, without a model


def test_a_fault_of_one_cell_lets_the_others_go_on_and_a_mistake_lets_those_before_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = configs(tmp_path)
    failing: Exception = ModelFault("gone")

    def prepare(self: OpenCell, console: object) -> None:
        if self.config.cell == first.cell:
            raise failing
        plain(self, console)  # type: ignore[arg-type]

    plain = OpenCell.prepare
    monkeypatch.setattr(OpenCell, "prepare", prepare)
    results = play(ReferenceFormalizer(), [first, second], monkeypatch)
    assert [str(result.refused) for result in results] == ["gone", "None"]
    assert list(rows(tmp_path)) == [second.cell]
    failing = ConfigError("no such thing")
    with pytest.raises(ConfigError, match="no such thing"):
        play(ReferenceFormalizer(), configs(tmp_path, "games=0-4")[::-1], monkeypatch)
    assert [row.game for row in rows(tmp_path)[second.cell]] == [0, 1, 2, 3, 4]
    with Cell(results[1].folder):
        pass  # nobody holds it any more


def test_a_limit_of_hours_is_told_and_is_no_fault(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    words = ["run", f"run.out={tmp_path}", "games=0-2"]
    told = " ".join(pddlego(*words, "run.max_hours=1e-9").err.split())
    assert "run.max_hours=1e-09 is reached, 3 episodes are left" in told
    pddlego(*words)
    assert [len(cell) for cell in rows(tmp_path).values()] == [3]


def test_commands_that_play_parts_are_one_sweep(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    """The first one finishes its part. The other one ends before it has played
    anything.
    """
    words = ["run", "-m", f"run.out={tmp_path}"]
    done = ["environment.rooms=3", "games=0-2"]
    left = ["environment.rooms=5", "seed=0,1", "games=0-3,7", "trials=2"]
    for part in (done, [*left, "run.max_hours=1e-9"]):
        pddlego(*words, *part)
    runs, out = tmp_path / "default", tmp_path / "report"
    report = ["report", runs, "--without-pages", "--out", out]
    first = "This sweep is not finished: 20 of 23 episodes have no result yet."
    assert pddlego(*report).out.startswith(first)
    text = (out / "report.md").read_text(encoding="utf-8")
    section = text.partition("## Episodes without a result\n\n")[2]
    lines = section.partition("\n\n")[0].splitlines()
    missing = "trial 0: games 0-3,7; trial 1: games 0-3,7"
    assert len(lines) == 2 and all(line.endswith(missing) for line in lines)
    pddlego(*words, *left)
    assert len(list(runs.glob("sweep-*.json"))) == 2
    assert "not finished" not in pddlego(*report).out
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "Episodes without a result" not in text


@pytest.mark.parametrize("begun", [True, False])
def test_what_several_commands_ask_of_one_cell_is_merged(
    tmp_path: Path, *, begun: bool
) -> None:
    asked = [["games=0-2"], ["games=2-4"], ["games=9", "trials=2"]]
    cells = [compose_cell([f"run.out={tmp_path}", *words]) for words in asked]
    for cell in cells:
        write_sweep([cell])
    write_sweep(cells[:2])  # in one command
    folder = cells[0].folder
    if begun:
        run_cells(cells[:1], lambda _: None)
    (planned,) = read_sweeps(tmp_path).items()
    every = {*((game, 0) for game in range(5)), (9, 0), (9, 1)}
    assert planned == (folder.resolve(), every)
    if begun:
        (record,) = find_cells([tmp_path])
        assert record.requested == every and record.missing == 4
        assert "4 of 7 episodes" in unfinished([record], read_sweeps(tmp_path))
        (line,) = missing_markdown([record], read_sweeps(tmp_path)).splitlines()[2:]
        assert line.endswith("trial 0: games 3-4,9; trial 1: game 9")
    else:
        (line,) = missing_markdown([], read_sweeps(tmp_path)).splitlines()[2:]
        assert line.endswith("(not begun): trial 0: games 0-4,9; trial 1: game 9")


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"cells": {"a": "b"}}',
        '{"cells": {"a": [{"games": "x", "trials": 1}]}}',
    ],
)
def test_a_damaged_sweep_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "sweep-0123456789ab.json").write_text(content, encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"sweep-0123456789ab.json is not a valid sweep .* away"
    ):
        read_sweeps(tmp_path)


def test_ctrl_c_twice_stops_what_will_not_end(tmp_path: Path) -> None:
    stuck = "model._target_=tests.sweeping.Stuck"
    process = start("run", f"run.out={tmp_path}", stuck, "run.concurrency=2")
    while not list(tmp_path.rglob("*.partial")):
        assert process.poll() is None
        time.sleep(0.005)
    interrupt(process)
    assert process.stderr
    while "Ctrl-C again stops at once" not in process.stderr.readline():
        assert process.poll() is None
    interrupt(process)
    code, told = finish(process)
    assert code == 130 and "rerun the command to continue" in told
    assert "Traceback" not in told
    assert not list(tmp_path.rglob("faults.jsonl")) and not any(rows(tmp_path).values())


def test_of_two_sweeps_of_one_second_the_later_one_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = "2026-01-01T00:00:00+00:00"
    monkeypatch.setattr("pddlego_local.runner.sweep.now", lambda: same)
    for base in ("free", "json", "free", "json"):
        compare = f"compare=[{{factor: decoding.rung, base: {base}}}]"
        write_sweep([compose_cell([f"run.out={tmp_path}", compare])])
        (*_, (_, declared)) = read_compare(tmp_path / "default")
        assert declared[0]["base"] == base
