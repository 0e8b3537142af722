"""A cell is one process's: on one machine, on several, and after a death. Real processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core.errors import CellHeld, RecordFault
from pddlego_local.core.record import lock as hold
from pddlego_local.core.record.folder import Cell
from tests.rows import row

HOLDER = """
import sys
from pathlib import Path
from pddlego_local.record import Cell
with Cell(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""
# Another machine's process, on a file system that carries no locks between machines.
STRANGER = "import fcntl, socket\nfcntl.flock = print\nsocket.gethostname = lambda: 'node7'\n"


def holder(folder: Path, script: str = HOLDER) -> subprocess.Popen[str]:
    """A process that has the cell until a line is sent to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    while "held" not in (line := process.stdout.readline()):
        assert line, "it ended without the cell"
    return process


@pytest.fixture
def near(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with holder(tmp_path) as process:
        yield process
        process.kill()


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    monkeypatch.setattr(hold, "SETTLE_S", 0.1)
    with holder(tmp_path, STRANGER + HOLDER) as process:
        yield process
        process.kill()


def silence(folder: Path, seconds: float = 2 * hold.SILENT_S) -> None:
    """As if the owner had given its last sign of life that long ago."""
    last = time.time() - seconds
    os.utime(folder / ".owner.json", (last, last))


def test_a_cell_that_another_process_has_is_refused_and_let_go(
    tmp_path: Path, near: subprocess.Popen[str]
) -> None:
    with pytest.raises(CellHeld, match=rf"another process: process {near.pid} on "), Cell(tmp_path):
        pass
    near.communicate("\n")
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))
    assert not (tmp_path / ".owner.json").exists()


def test_a_dead_owner_of_this_machine_is_followed_at_once(
    tmp_path: Path, near: subprocess.Popen[str]
) -> None:
    near.send_signal(signal.SIGKILL)
    near.wait()
    assert (tmp_path / ".owner.json").exists()
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))


@pytest.mark.usefixtures("far")
def test_another_machine_is_kept_out_without_locks_until_it_falls_silent(tmp_path: Path) -> None:
    silence(tmp_path, 30)
    with (
        pytest.raises(CellHeld, match=r"on node7, since .*last sign of life was 30 s ago"),
        Cell(tmp_path),
    ):
        pass
    silence(tmp_path)
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))


def test_a_machine_that_comes_back_too_late_writes_nothing(tmp_path: Path) -> None:
    with Cell(tmp_path) as late:
        silence(tmp_path)
        with holder(tmp_path, STRANGER + HOLDER) as other:
            with pytest.raises(RecordFault, match=rf"taken over by process {other.pid} on node7"):
                late.append(row(game=1))
            with pytest.raises(RecordFault, match="on node7"), late.transcript(1, 0):
                pass
            other.kill()
    assert (tmp_path / ".owner.json").exists(), "it is not the late one's to take away"
    assert not (tmp_path / "episodes.jsonl").exists()
    assert not list(tmp_path.rglob("transcripts/*.jsonl"))


def test_a_folder_that_is_moved_while_it_is_played_is_not_begun_anew(tmp_path: Path) -> None:
    with Cell(tmp_path / "cell") as cell:
        (tmp_path / "cell").rename(tmp_path / "moved")
        (tmp_path / "cell").mkdir()
        with pytest.raises(RecordFault, match="was moved or emptied"):
            cell.append(row(game=1))


def test_signs_of_life_are_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold, "BEAT_S", 0.01)
    with Cell(tmp_path):
        silence(tmp_path)
        last = (tmp_path / ".owner.json").stat().st_mtime
        while (tmp_path / ".owner.json").stat().st_mtime == last:
            time.sleep(0.01)


def test_an_owner_that_died_while_it_wrote_its_name_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hold, "SETTLE_S", 0.1)
    (tmp_path / ".owner.json").touch()
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))
