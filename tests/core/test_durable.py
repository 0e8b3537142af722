"""Files that are written by several at once, or while a disk is full."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from pddlego_local.core.durable import replace_file
from pddlego_local.core.record.events import End, Restart
from pddlego_local.core.record.folder import Cell, read_events, write_json
from tests.rows import row


def test_racing_writers_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"

    def write(writer: int) -> None:
        for _ in range(25):
            write_json(path, {"writer": [writer] * 1000})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert path.read_bytes().count(b"\n") == 1004
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    replace_file(path, b"before")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"after")
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_two_writers_of_one_transcript_without_locks_leave_a_whole_one(
    tmp_path: Path, first_to_end: int
) -> None:
    (tmp_path / "transcripts").mkdir()
    end = End(row=row(game=7))
    files = [ExitStack(), ExitStack()]
    transcripts = []
    for number, file in enumerate(files):
        transcript = file.enter_context(Cell(tmp_path).transcript(7, 0))
        transcript(Restart(replayed=(f"of {number}",)))
        transcripts.append(transcript)
    for number in (first_to_end, 1 - first_to_end):
        transcripts[number](end)
        files[number].close()
        events = read_events(tmp_path / "transcripts" / "7-0.jsonl")
        assert events == [Restart(replayed=(f"of {number}",)), end]
    assert [path.name for path in (tmp_path / "transcripts").iterdir()] == ["7-0.jsonl"]
