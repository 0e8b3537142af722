"""The file of `pddlego sample`: one JSON line per answer, written as it ends, and continued."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from pddlego_local.core.errors import ConfigError, RecordFault

Write = Callable[[Mapping[str, Any]], None]
"""Adds a line. Raises RecordFault if there is no room."""


@contextlib.contextmanager
def answer_file(path: Path | None, **same: object) -> Iterator[tuple[frozenset[int], Write]]:
    """Yields the ids of the answers that `path` has already, and what adds one; None: to standard
    output. `same` is what each line of a file must say: answers to different questions never mix.

    Raises RecordFault for a file that cannot be written, ConfigError if it is of something else.
    """

    def write(row: Mapping[str, Any]) -> None:
        try:
            print(json.dumps(row, ensure_ascii=file.isatty()), file=file, flush=True)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise RecordFault(f"cannot write {path}: {error.strerror}") from error

    if path is None:
        file: IO[str] = sys.stdout
        yield frozenset(), write
        return
    try:
        ids = _ids(path, same)
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise RecordFault(f"--out {path}: {error.strerror}") from error
    with file:
        yield ids, write


def _ids(path: Path, same: Mapping[str, object]) -> frozenset[int]:
    """The ids of the whole lines; a torn last line is cut off, and its answer drawn again."""
    if not path.is_file():  # none yet, or a pipe
        return frozenset()
    ids = set()
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines[:-1], start=1):
        where = f"--out {path} line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{where} is not JSON: {error}; name a new file") from error
        if not isinstance(row, dict) or not isinstance(row.get("id"), int):
            raise ConfigError(f"{where} is no answer of `pddlego sample`; name a new file")
        for key, value in same.items():
            if row.get(key) != value:
                raise ConfigError(
                    f"{where} has {key} {row.get(key)} and not {value}; name a new file"
                )
        ids.add(row["id"])
    os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
    return frozenset(ids)
