"""Deadlines, and the lines that are written at once."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType


class OutOfTime(Exception):
    """A step's deadline has passed."""


class NotHere(Exception):
    """This machine cannot do a step, for the reason in the message."""


class Failed(Exception):
    """A step could not do what it should, for the reason in the message."""


class Deadline:
    """A point in time."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Returns the seconds until the deadline. Raises OutOfTime after it."""
        seconds = self._at - time.monotonic()
        if seconds <= 0:
            raise OutOfTime
        return seconds


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[Deadline]:
    """Yields a deadline; OutOfTime is raised in the block when it has passed.

    A signal interrupts whatever the main thread waits for.
    """

    def over(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield Deadline(seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Lines:
    """JSON lines, on standard output and in a file, each as soon as it is told."""

    def __init__(self, file: Path) -> None:
        self._began = time.monotonic()
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file

    def tell(self, step: str, **facts: object) -> None:
        at = round(time.monotonic() - self._began, 1)
        line = json.dumps({"at": at, "step": step, **facts})
        print(line, flush=True)
        with self._file.open("a", encoding="utf-8") as file:
            print(line, file=file, flush=True)
            os.fsync(file.fileno())
