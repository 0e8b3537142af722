"""A cell is one process's, until that ends or dies. Real processes."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core.errors import CellHeld, RecordFault
from pddlego_local.core.record.folder import Cell
from tests.rows import row

HOLDER = """
import sys
from pathlib import Path
from pddlego_local.core.record.folder import Cell
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
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with holder(tmp_path) as process:
        yield process
        process.kill()


def test_a_cell_that_another_process_has_is_refused_and_let_go(
    tmp_path: Path, other: subprocess.Popen[str]
) -> None:
    for _ in range(2):  # the refused one takes nothing away
        told = rf"another process: process {other.pid} on "
        with pytest.raises(CellHeld, match=told), Cell(tmp_path):
            pass
    other.communicate("\n")
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))
    assert not (tmp_path / ".owner.json").exists()


def test_a_killed_owner_is_followed_at_once(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert (tmp_path / ".owner.json").exists()
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))


def test_without_locks_between_machines_the_later_one_has_the_cell(tmp_path: Path) -> None:
    with Cell(tmp_path) as late, holder(tmp_path, STRANGER + HOLDER) as other:
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


@pytest.mark.parametrize("written", ["", "[]", '{"host": 1}'])
def test_an_owner_that_died_while_it_wrote_its_name_is_followed(
    tmp_path: Path, written: str
) -> None:
    (tmp_path / ".owner.json").write_text(written)
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))
