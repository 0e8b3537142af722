"""The files that a run writes, and how a run is continued.

    runs/<experiment>/<cell>/run.json           what was run: settings, hashes, versions
                             episodes.jsonl     one terminal row per (game, trial)
                             faults.jsonl       infrastructure faults: not terminal,
                                                tried again
                             transcripts/<game>-<trial>.jsonl   everything that happened
                             transcripts/<game>-<trial>.lark    a grammar that did not
                                                                compile
                             transcripts/<game>-<trial>.….partial   an episode that is
                                                                    not finished

The .jsonl files are append-only: a row is written completely or not at all. A
transcript is complete before its row exists. So an episode with a row is finished, and
an episode without one is played again from its start.

This module knows files, but not what an event means (`summary`) or how an episode is
played (`episode`). `events` and `rows` define the content of a line. run.json names the
format of all files.
"""

import contextlib
import json
import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

import filelock
import pydantic

from pddlego_local.core.durable import replace_file, sync_folder, unused_name
from pddlego_local.core.errors import CellHeld, ConfigError, RecordFault
from pddlego_local.core.formats import FORMAT, Recorded, object_of, read_as, to_json
from pddlego_local.core.record.events import EVENT, End, Event
from pddlego_local.core.record.rows import ROW, EpisodeRow, FaultRow, GameTrial
from pddlego_local.core.record.run_record import (
    RUN,
    RunRecord,
    check_readable,
    continued,
    read_run,
    with_present_names,
)
from pddlego_local.core.secrets import hidden, hidden_in_data, secrets_of

T = TypeVar("T")


class Cell:
    """The folder of one cell, which one process at a time holds with the kernel's lock
    on `.lock`.

    The lock ends with its process, however the process dies. docs/use/machines.md says
    on which file systems this works.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = filelock.FileLock(folder / ".lock", timeout=0, thread_local=False)
        self._append_lock = threading.Lock()
        self._secrets = frozenset[str]()

    def __enter__(self) -> "Cell":
        """Raises CellHeld if another process, here or on another machine, is playing
        this cell.
        """
        with recording(self.folder):
            (self.folder / "transcripts").mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except filelock.Timeout as error:
                raise CellHeld(
                    f"{self.folder} is being played by another process"
                ) from error
            _drop_torn_line(self.folder / "episodes.jsonl")
            _drop_torn_line(self.folder / "faults.jsonl")
            sync_folder(self.folder)
            sync_folder(self.folder.parent)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    @property
    def described(self) -> bool:
        """Whether there is a run.json."""
        return (self.folder / "run.json").exists()

    def done(self) -> set[GameTrial]:
        """Returns the episodes with a terminal row."""
        return {row.episode for row in self._rows()}

    def _rows(self) -> list[EpisodeRow]:
        return read_rows(self.folder / "episodes.jsonl")

    def earlier(self, trial: int) -> list[EpisodeRow]:
        """Returns the rows of the trials before `trial`, in the order (trial, game)."""
        rows = [row for row in self._rows() if row.trial < trial]
        return sorted(rows, key=lambda row: (row.trial, row.game))

    def describe(self, run: RunRecord) -> None:
        """Writes run.json, with the one start of `run` added to the earlier starts.
        Secrets are hidden, those of earlier starts too, and in everything that is
        written later.

        Raises ConfigError if the folder holds a different run, or if the record of
        `run` could not be read back.
        """
        path = self.folder / "run.json"
        given: dict[str, Any] = {"format": FORMAT, **RUN.dump_python(run)}
        self._secrets = secrets_of(given)
        new: dict[str, Any] = hidden(given, self._secrets)
        check_readable(new)
        if self.described:
            read_run(self.folder)
            before = with_present_names(hidden(object_of(path), self._secrets))
            try:
                new = continued(before, new)
            except ValueError as error:
                raise ConfigError(f"{path} was begun with {error}") from error
        write_json(path, new)

    def append(self, row: EpisodeRow | FaultRow) -> None:
        """Appends a row completely or not at all: a partial write (full disk) is
        undone.

        Raises RecordFault, as all writing methods of this class do.
        """
        if isinstance(row, EpisodeRow):
            name = "episodes.jsonl"
        else:
            name, row = "faults.jsonl", self._without_secrets(row)
        path = self.folder / name
        with self._append_lock, recording(path), path.open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            try:
                _write(file, row)
                os.fsync(file.fileno())
                if before == 0:
                    sync_folder(self.folder)
            except OSError:
                file.truncate(before)
                raise

    def _without_secrets(self, row: FaultRow) -> FaultRow:
        """Hides secrets in the texts of a fault, which can be a server's."""
        return FaultRow(**hidden(vars(row), self._secrets))

    def keep_grammar(self, game: int, trial: int, text: str) -> Path:
        """Writes the text of a grammar that did not compile beside the episode's
        transcript.
        """
        path = transcript_of(self.folder, game, trial).with_suffix(".lark")
        with recording(path):
            replace_file(path, text.encode("utf-8", "replace"))
        return path

    @contextlib.contextmanager
    def transcript(self, game: int, trial: int) -> Iterator["Transcript"]:
        """Opens the transcript of an episode for writing.

        The file gets its final name only if the block ends without an error. An
        unfinished transcript is overwritten.
        """
        path = transcript_of(self.folder, game, trial)
        partial = unused_name(path, ".partial")
        with recording(path):
            for earlier in path.parent.glob(f"{path.stem}.*partial"):
                earlier.unlink(missing_ok=True)
            # A buffered file would fail again on closing.
            file = partial.open("wb", buffering=0)
        with file:
            transcript = Transcript(file, self._secrets)
            yield transcript
            with recording(path):
                os.fsync(file.fileno())
                try:
                    partial.replace(path)
                except FileNotFoundError:
                    # Without locks, another process plays this episode too.
                    lines = [_line(event, self._secrets) for event in transcript.events]
                    replace_file(path, b"".join(lines))
                sync_folder(path.parent)


class Transcript:
    """Collects the events of one episode: on disk as they happen, and in memory for its
    summary.

    A server that repeats its key in an answer does not bring the key (one of `secrets`)
    on disk.
    """

    def __init__(self, file: FileIO, secrets: Collection[str] = ()) -> None:
        self._file, self._secrets = file, secrets
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        with recording(Path(str(self._file.name))):
            _write(self._file, event, self._secrets)


def transcript_of(cell: Path, game: int, trial: int) -> Path:
    """Returns the path of an episode's transcript, whether or not the file exists."""
    return cell / "transcripts" / f"{game}-{trial}.jsonl"


def transcripts(folder: Path) -> Iterator[tuple[Path, list[Event]]]:
    """Yields every transcript at or below a folder, sorted by path. Raises as
    `read_events`.
    """
    for path in sorted(folder.rglob("transcripts/*.jsonl")):
        yield path, read_events(path)


def read_events(transcript: Path) -> list[Event]:
    """Reads a transcript. Raises ConfigError for another format, or for a line that is
    no event.
    """
    return _read(transcript, transcript.parent.parent, EVENT, "an event")


def missing_end(transcript: Path, events: Sequence[Event]) -> list[str]:
    """Returns the problem of a transcript whose last event is not the end; else
    nothing.
    """
    if events and isinstance(events[-1], End):
        return []
    return [f"{transcript} has no end: a part of the episode is lost"]


def read_rows(episodes: Path, problems: list[str] | None = None) -> list[EpisodeRow]:
    """Returns the first row of each episode in an episodes.jsonl; no rows if the file
    is absent.

    Raises as `read_events`. With `problems`, lines that cannot be read and further rows
    of an episode are reported there instead.
    """
    first = dict[GameTrial, EpisodeRow]()
    for row in _read(episodes, episodes.parent, ROW, "an episode's row", problems):
        if row.episode not in first:
            first[row.episode] = row
        elif problems is not None:
            problems.append(
                f"{episodes}: a further row of game {row.game}, trial {row.trial}, is"
                " ignored"
            )
    return list(first.values())


def _read(
    path: Path,
    cell: Path,
    adapter: "pydantic.TypeAdapter[T]",
    what: str,
    problems: list[str] | None = None,
) -> list[T]:
    """Returns the complete lines of a JSON-lines file. An incomplete last line is
    ignored.
    """
    if not path.exists():
        return []
    if (cell / "run.json").exists():
        read_run(cell)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    parsed = []
    for number, line in enumerate(lines[:-1], start=1):
        place = f"{path} line {number}"
        try:
            parsed.append(read_as(adapter, line, place, what))
        except ConfigError as error:
            if problems is None:
                raise
            problems.append(str(error))
    return parsed


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Replaces the file atomically. Raises RecordFault."""
    text = json.dumps(content, indent=2, sort_keys=True) + "\n"
    with recording(path):
        replace_file(path, text.encode())


def _write(file: FileIO, entry: Recorded, secrets: Collection[str] = ()) -> None:
    data = _line(entry, secrets)
    if file.write(data) != len(data):
        raise OSError("the disk is full")


def _line(entry: Recorded, secrets: Collection[str] = ()) -> bytes:
    return (hidden_in_data(to_json(entry), secrets) + "\n").encode()


def _drop_torn_line(path: Path) -> None:
    """Removes an incomplete last line, which a process leaves if it dies while
    appending.
    """
    if path.exists():
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(path, whole)


@contextlib.contextmanager
def recording(path: Path) -> Iterator[None]:
    """Turns an OSError within the block into a RecordFault that names `path`."""
    try:
        yield
    except OSError as error:
        raise RecordFault(
            f"cannot write {path}: {error.strerror or error}. Everything recorded"
            " before is kept; free disk space or fix permissions, then run the same"
            " command again"
        ) from error
