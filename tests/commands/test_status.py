"""`pddlego status`: what can be said of a run from its records, at any moment."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.commands.run import main as run_command
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.folder import Cell
from pddlego_local.core.record.rows import FaultRow
from pddlego_local.report.progress import progress
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from pddlego_local.runner.sweep import write_sweep
from tests.processes import interrupt, start
from tests.rows import row, run_record


def recorded(folder: Path, games: str, ended: dict[int, float]) -> None:
    """A cell with a row for each game of `ended`, which says when it ended; each took 10 seconds
    and 50 tokens."""
    with Cell(folder) as cell:
        cell.describe(run_record(games))
        for game, end in ended.items():
            with cell.transcript(game, 0):
                pass
            os.utime(folder / "transcripts" / f"{game}-0.jsonl", (end, end))
            won = "success" if game % 2 else "solver_abort"
            cell.append(row(won, game, wall_time_s=10.0, completion_tokens=50))


def test_pace_counts_the_time_in_which_something_was_played(tmp_path: Path) -> None:
    """Two at once for 10 s, a pause of a night, and one more that overlaps another's half."""
    recorded(tmp_path / "a", "0-7", {0: 1010, 1: 1010, 2: 90_010, 3: 90_015})
    seen = progress(tmp_path)
    assert seen.busy_s == 10 + 15 and seen.last_written == 90_015
    assert seen.tokens_per_s == 200 / 25
    assert seen.left_s == 25 / 4 * 4
    assert (seen.standing.won, seen.standing.counting) == (2, 4)


def test_faults_and_what_is_tried_again(tmp_path: Path) -> None:
    recorded(tmp_path, "0-2", {0: 10.0})
    with Cell(tmp_path) as cell:
        for game in (0, 1, 1):
            cell.append(FaultRow(game=game, trial=0, fault="ModelFault", message="", time=""))
    seen = progress(tmp_path)
    assert (seen.faults, seen.open_faults) == (3, 1)


def test_cells_that_have_not_begun_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [
        compose_cell([f"run.out={tmp_path}", "games=0-3", f"environment.rooms={rooms}"])
        for rooms in (3, 5, 7)
    ]
    write_sweep(cells)
    assert progress(tmp_path).left_s is None
    run_cell(cells[0])
    seen = progress(tmp_path)
    assert (seen.cells, seen.cells_begun, seen.cells_done) == (3, 1, 1)
    assert (seen.episodes, seen.done, seen.faults, seen.starts) == (12, 4, 0, 1)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert run(["status", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "1 of 3 done" in told and "4 of 12 done" in told and "at the pace so far" in told
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_torn_line_and_an_episode_in_flight_are_no_mistake(tmp_path: Path) -> None:
    recorded(tmp_path, "0-2", {0: 100.0})
    with (tmp_path / "episodes.jsonl").open("a") as torn:
        torn.write('{"game": 1, "tri')
    (tmp_path / "transcripts" / "1-0.partial").touch()
    os.utime(tmp_path / "transcripts" / "1-0.partial", (130.0, 130.0))
    seen = progress(tmp_path)
    assert (seen.done, seen.episodes, seen.last_written) == (1, 3, 130.0)


def test_a_sweep_says_beforehand_what_it_will_play(tmp_path: Path) -> None:
    words = ["-m", "environment.rooms=3,5", "trials=2", "games=0-3", f"run.out={tmp_path}"]
    assert run_command([*words, "run.max_hours=1e-9"]) == 0
    planned = json.loads((tmp_path / "default" / "sweep.json").read_text())["cells"]
    assert list(planned.values()) == [8, 8]
    seen = progress(tmp_path)
    assert (seen.cells, seen.cells_begun, seen.episodes, seen.done) == (2, 0, 16, 0)


def test_where_nothing_ran_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no run\.json at or below"):
        progress(tmp_path)
    (tmp_path / "sweep.json").write_text("[]")
    with pytest.raises(ConfigError, match=r"sweep\.json is not a record of ours"):
        progress(tmp_path)


def test_an_interrupted_sweep_counts_as_status_does(tmp_path: Path) -> None:
    """Also when it is continued: what was done before counts, and faults and cut cells do not."""
    words = ["-m", "environment.rooms=3,5", "games=0-199", f"run.out={tmp_path}"]
    for before in (3, 30):
        told = interrupted(words, tmp_path, before)
        shown = " ".join(told.split())
        seen = progress(tmp_path / "default")
        assert seen.done >= before
        assert f" {seen.done}/{seen.episodes} cells {seen.cells_done}/{seen.cells}, " in shown
        assert f"success {seen.standing.won / seen.standing.counting:.1%} of" in shown


def interrupted(words: list[str], out: Path, rows: int) -> str:
    """What a sweep shows that is interrupted when it has so many rows."""
    with start("run", *words, stderr=subprocess.STDOUT) as process:
        while sum(file.read_bytes().count(b"\n") for file in out.rglob("episodes.jsonl")) < rows:
            assert process.poll() is None
            time.sleep(0.01)
        interrupt(process)
        told, _ = process.communicate()
    assert process.returncode == 130
    return told
