"""Files that are written by several at once, or while a disk is full."""

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from pddlego_local.core.durable import rename_synced, replace_file
from pddlego_local.core.record.events import End, Restart
from pddlego_local.core.record.folder import Cell, read_events, write_json
from tests.rows import row


def test_racing_writers_leave_one_whole_file(tmp_path: Path) -> None:
    path, failed = tmp_path / "run.json", list[BaseException]()

    def write(writer: int) -> None:
        try:
            for _ in range(25):
                write_json(path, {"writer": [writer] * 1000})
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
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


def test_a_folder_is_renamed_with_all_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "unfinished" / "inner").mkdir(parents=True)
    (tmp_path / "unfinished" / "inner" / "file").write_text("content", encoding="utf-8")
    rename_synced(tmp_path / "unfinished", tmp_path / "made")
    assert (tmp_path / "made" / "inner" / "file").read_text(
        encoding="utf-8"
    ) == "content"
    assert not (tmp_path / "unfinished").exists()


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_two_writers_of_one_transcript_without_locks_leave_a_whole_one(
    tmp_path: Path, first_to_end: int
) -> None:
    (tmp_path / "transcripts").mkdir()
    stacks, written = [ExitStack(), ExitStack()], []
    for number, stack in enumerate(stacks):
        transcript = stack.enter_context(Cell(tmp_path).transcript(7, 0))
        transcript(Restart(replayed=(f"of {number}",)))
        written.append(transcript)
    for number in (first_to_end, 1 - first_to_end):
        written[number](End(row=row(game=7)))
        stacks[number].close()
        events = read_events(tmp_path / "transcripts" / "7-0.jsonl")
        assert events == [Restart(replayed=(f"of {number}",)), End(row=row(game=7))]
    assert [path.name for path in (tmp_path / "transcripts").iterdir()] == ["7-0.jsonl"]
