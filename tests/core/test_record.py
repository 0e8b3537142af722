"""Records survive kills, torn lines and full disks; nothing recorded is ever lost. A
cell is one process's, until that ends or dies.
"""

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import CellHeld, ConfigError
from pddlego_local.core.formats import to_json
from pddlego_local.core.record.events import End, Restart
from pddlego_local.core.record.folder import Cell, read_events, read_rows
from tests.processes import ran
from tests.rows import row, run_record


def rows(folder: Path) -> list[int]:
    return [row.game for row in read_rows(folder / "episodes.jsonl")]


def test_a_torn_last_line_is_ignored_by_readers_and_dropped_by_the_next_session(
    tmp_path: Path,
) -> None:
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))
    file = tmp_path / "episodes.jsonl"
    with file.open("a", encoding="utf-8") as torn:
        torn.write('{"game": 2, "tri')
    assert rows(tmp_path) == [1]
    with Cell(tmp_path) as cell:
        assert cell.done() == {(1, 0)}
        cell.append(row(game=2))
    assert rows(tmp_path) == [1, 2]


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    lines = [to_json(row(game=1)), "nonsense", to_json(row(game=2))]
    (tmp_path / "episodes.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"episodes.jsonl line 2 is not JSON"):
        rows(tmp_path)


def test_a_transcript_gets_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    finished = tmp_path / "transcripts" / "7-0.jsonl"
    with Cell(tmp_path) as cell:
        with pytest.raises(RuntimeError), cell.transcript(7, 0) as transcript:
            transcript(Restart(replayed=()))
            raise RuntimeError
        assert not finished.exists()
        with cell.transcript(7, 0) as transcript:
            transcript(Restart(replayed=()))
            transcript(End(row=row(game=7)))
    assert read_events(finished) == [Restart(replayed=()), End(row=row(game=7))]


def test_a_folder_begun_with_another_configuration_is_refused(tmp_path: Path) -> None:
    with Cell(tmp_path) as cell:
        cell.describe(run_record(seed=0, began="monday"))
        cell.describe(run_record(seed=0, began="tuesday"))
        with pytest.raises(ConfigError, match="identity"):
            cell.describe(run_record(seed=1, began="wednesday"))
    starts = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["starts"]
    assert [start["began"] for start in starts] == ["monday", "tuesday"]


FILL_THE_DISK = """
import resource, signal, sys
from pathlib import Path
from typing import Any
from pddlego_local.core.errors import RecordFault
from pddlego_local.core.record.events import Restart
from pddlego_local.core.record.folder import Cell
from tests.rows import row, run_record

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Cell(Path(sys.argv[1])) as cell:
    cell.append(row(game=0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    try:
        with cell.transcript(0, 0) as transcript:
            while True:
                transcript(Restart(replayed=("go north",)))
    except RecordFault:
        pass  # not the error of closing the file
    try:
        for game in range(1, 100):
            cell.append(row(game=game))
    except RecordFault as fault:
        print(game, fault)
"""


def test_on_a_full_disk_whole_rows_stay_and_the_error_says_what_to_do(
    tmp_path: Path,
) -> None:
    done = ran("-c", FILL_THE_DISK, tmp_path, check=True)
    failed_at, _, message = done.stdout.partition(" ")
    assert "cannot write" in message and "same command again" in message
    assert rows(tmp_path) == list(range(int(failed_at)))
    assert (tmp_path / "episodes.jsonl").read_bytes().endswith(b"\n")


def run_without_room(
    *words: str, file_bytes: int, **streams: Any
) -> subprocess.CompletedProcess[str]:
    """`pddlego run`; no file of it grows beyond so many bytes."""
    limits = resource.RLIMIT_FSIZE, (file_bytes, file_bytes)
    command = ("-m", "pddlego_local", "run", "model=reference", "games=1", *words)
    return ran(*command, preexec_fn=lambda: resource.setrlimit(*limits), **streams)


def test_a_full_disk_is_an_infrastructure_fault_where_it_takes_the_log_too(
    tmp_path: Path,
) -> None:
    """What a command says goes to a file on the same disk."""
    log = tmp_path / "log"
    log.write_text("lines of before\n" * 100, encoding="utf-8")
    words = ["environment.rooms=3", f"run.out={tmp_path}"]
    with log.open("ab") as file:
        done = run_without_room(*words, file_bytes=500, stdout=file, stderr=file)
    assert done.returncode == 3


@pytest.mark.parametrize("file_bytes", [100, 1_000, 2_000])
def test_a_full_disk_ends_a_sweep_in_a_sentence(
    tmp_path: Path, file_bytes: int
) -> None:
    """Hydra's own files are the first that find no room."""
    words = ["-m", f"run.out={tmp_path}"]
    done = run_without_room(*words, file_bytes=file_bytes)
    assert done.returncode == 3, done.stderr
    assert "free disk space" in done.stderr and "Traceback" not in done.stderr


HOLDER = """
import sys
from pathlib import Path
from pddlego_local.core.record.folder import Cell
with Cell(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the cell until a line is sent to it."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, encoding="utf-8"
    ) as process:
        assert process.stdout
        while "held" not in (line := process.stdout.readline()):
            assert line, "it ended without the cell"
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


def test_a_killed_owner_is_followed_at_once(
    tmp_path: Path, other: subprocess.Popen[str]
) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    with Cell(tmp_path) as cell:
        cell.append(row(game=1))
