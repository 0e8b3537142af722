"""Folders of a training that are there when they are whole, and what says that a disk is full."""

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PLACE = "place.json"


class Place(NamedTuple):
    """How far the weights in a folder are: in the middle of a round, as one counts steps."""

    round: int = -1
    step: int = 0

    @classmethod
    def of(cls, folder: Path) -> "Place":
        """Before the first round where nothing was begun."""
        path = folder / PLACE
        return cls(**json.loads(path.read_text())) if path.is_file() else cls()

    def write(self, folder: Path) -> None:
        (folder / PLACE).write_text(json.dumps(self._asdict()))


def in_a_file(error: BaseException) -> bool:
    """Whether a file could not be written or read: safetensors and torch have their own words. An
    OSError that was handled before another error does not count."""
    if isinstance(error, OSError):
        return True
    cause: BaseException | None = error
    while cause is not None and not re.search("I/O error|iostream error", str(cause)):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


@contextlib.contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """Yields where to make a folder that is to be there only when it is whole."""
    unfinished = folder.with_name(f"unfinished-{folder.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    yield unfinished
    unfinished.rename(folder)
