"""A cell is one process's, until that ends or dies. Real processes."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core.errors import CellHeld
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


def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that has the cell until a line is sent to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
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
        with pytest.raises(CellHeld, match="by another process"), Cell(tmp_path):
            pass
    other.communicate("\n")
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))


def test_a_killed_owner_is_followed_at_once(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))
