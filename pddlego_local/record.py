"""What a run leaves on disk, and how it is continued.

    runs/<experiment>/<cell>/run.json           what was run: settings, hashes, versions
                             episodes.jsonl     one terminal row per (game, trial)
                             faults.jsonl       infrastructure faults: not terminal, tried again
                             transcripts/<game>-<trial>.jsonl   everything that happened

Append-only: a row is written whole or not at all. A transcript is complete before its row exists,
so whatever has a row is done and whatever has none is played again from its start.
Knows files; not what an event means (`metrics`) nor how an episode is played (`episode`).
"""

import contextlib
import fcntl
import functools
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from pddlego_local.errors import ConfigError, RecordFault

Row = dict[str, Any]


class Cell:
    """The folder of one cell, held by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held: IO[str] | None = None
        self._append_lock = threading.Lock()

    def __enter__(self) -> "Cell":
        """Raises ConfigError if another process is running this cell."""
        with _recording(self.folder):
            (self.folder / "transcripts").mkdir(parents=True, exist_ok=True)
            self._held = (self.folder / ".lock").open("w")
            try:
                fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                self._held.close()
                raise ConfigError(f"{self.folder} is being run by another process") from error
            _drop_torn_line(self.folder / "episodes.jsonl")
            _drop_torn_line(self.folder / "faults.jsonl")
        return self

    def __exit__(self, *_: object) -> None:
        if self._held:
            self._held.close()

    def done(self) -> set[tuple[int, int]]:
        """(game, trial) of every terminal row."""
        return {(row["game"], row["trial"]) for row in read_rows(self.folder / "episodes.jsonl")}

    def earlier(self, trial: int) -> list[Row]:
        """The rows of the trials before this one, in the order (trial, game)."""
        rows = read_rows(self.folder / "episodes.jsonl")
        before = [row for row in rows if row["trial"] < trial]
        return sorted(before, key=lambda row: (row["trial"], row["game"]))

    def describe(self, run: Mapping[str, Any], start: Mapping[str, Any]) -> None:
        """Writes run.json: `run` is what must not change between starts, `start` what may.

        Raises ConfigError if the folder holds a different run.
        """
        path = self.folder / "run.json"
        starts = []
        if path.exists():
            try:
                before = json.loads(path.read_text())
                starts = before.pop("starts")
            except (ValueError, KeyError) as error:
                raise ConfigError(
                    f"{path} is not a record of ours: {error!r}; move it away"
                ) from error
            changed = sorted(k for k in run.keys() | before.keys() if before.get(k) != run.get(k))
            if changed:
                raise ConfigError(
                    f"{path} was begun with other values of {', '.join(changed)}: "
                    "choose another `name`, or move that folder away"
                )
        text = json.dumps({**run, "starts": [*starts, start]}, indent=2, sort_keys=True)
        with _recording(path):
            replacement = path.with_suffix(".new")
            replacement.write_text(text + "\n")
            replacement.replace(path)

    def append(self, row: Row) -> None:
        """One terminal row, in episodes.jsonl."""
        with self._append_lock:
            _append(self.folder / "episodes.jsonl", row)

    def append_fault(self, row: Row) -> None:
        with self._append_lock:
            _append(self.folder / "faults.jsonl", row)

    @contextlib.contextmanager
    def transcript(self, game: int, trial: int) -> Iterator["Transcript"]:
        """Gets its name only when the block ends well; an unfinished one is written anew."""
        path = self.folder / "transcripts" / f"{game}-{trial}.jsonl"
        partial = path.with_suffix(".partial")
        with _recording(path):
            file = partial.open("w", encoding="utf-8")
        with file:
            yield Transcript(file)
            with _recording(path):
                file.flush()
                os.fsync(file.fileno())
                partial.replace(path)


class Transcript:
    """The events of one episode, on disk as they happen and in memory for its summary."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.events: list[Row] = []

    def __call__(self, event: str, **facts: object) -> None:
        entry = {"event": event, **facts}
        self.events.append(entry)
        with _recording(Path(self._file.name)):
            self._file.write(_line(entry))
            self._file.flush()


@functools.cache
def winning_domains(folder: Path) -> tuple[tuple[str, str], ...]:
    """(where from, text) of the last planned domain of every won episode below `folder`, sorted.

    Raises ConfigError if there is none.
    """
    found = []
    for path in sorted(folder.rglob("transcripts/*.jsonl")):
        events = read_rows(path)
        if events and events[-1].get("outcome") == "success":
            planned = [e["domain"] for e in events if e["event"] == "plan" and e["plan"]]
            found += [(str(path.relative_to(folder)), domain) for domain in planned[-1:]]
    if not found:
        raise ConfigError(f"method.domains={folder}: no won episode with a plan below this folder")
    return tuple(found)


def read_rows(path: Path) -> list[Row]:
    """All whole lines of a JSON-lines file; a torn last line is left out; none if it is absent.

    Raises ConfigError naming file and line if another line is not JSON.
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    rows = []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise ConfigError(f"{path} line {number} is not JSON: {error}") from error
    return rows


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"


def _append(path: Path, row: Mapping[str, Any]) -> None:
    """Whole or not at all: a write cut short (full disk) is taken back."""
    data = _line(row).encode()
    with _recording(path), path.open("ab", buffering=0) as file:
        before = file.seek(0, os.SEEK_END)
        try:
            if file.write(data) != len(data):
                raise OSError("the disk is full")
            os.fsync(file.fileno())
        except OSError:
            file.truncate(before)
            raise


def _drop_torn_line(path: Path) -> None:
    """A process that died while appending leaves a last line without its end."""
    if path.exists():
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(path, whole)


@contextlib.contextmanager
def _recording(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordFault(
            f"cannot write {path}: {error.strerror or error}. What was recorded before is kept; "
            "make room or permissions, then give the same command again"
        ) from error
