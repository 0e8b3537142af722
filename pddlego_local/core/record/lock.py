"""A cell's folder belongs to one process at a time.

The lock is the kernel's own on `.lock`, by `filelock`: it ends with its process, however that dies,
and two machines see each other's where their file system carries locks (docs/machines.md). A lock
that is a mere file would outlive a process that was killed.

`.owner.json` says who holds the lock, for messages, and makes two mistakes of a user harmless that
no lock can see: a folder that was moved away while it was played, and a file system that keeps
locks to one machine. In both, `check` finds another owner there, or none.
"""

import contextlib
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock

from pddlego_local.core.errors import CellHeld, RecordFault
from pddlego_local.core.formats import now


@dataclass(frozen=True)
class Owner:
    """The process that holds a folder."""

    host: str
    pid: int
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


class CellLock:
    """The lock of one folder, which this process holds from `acquire` to `release`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner_file = folder / ".owner.json"
        self._lock = filelock.FileLock(folder / ".lock", timeout=0, thread_local=False)
        self._self = Owner(socket.gethostname(), os.getpid(), now())

    def acquire(self) -> None:
        """Raises CellHeld, which says who holds the folder, and OSError."""
        try:
            self._lock.acquire()
        except filelock.Timeout as error:
            owner = self._owner()
            who = f": {owner}" if owner else ""
            raise CellHeld(f"{self._folder} is being played by another process{who}") from error
        try:
            self._owner_file.write_text(json.dumps(asdict(self._self)))
        except BaseException:
            self._lock.release()
            raise

    def release(self) -> None:
        """Also where nothing is held."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                if self._owner() == self._self:
                    self._owner_file.unlink()
            self._lock.release()

    def check(self) -> None:
        """Raises RecordFault if the folder is this process's no more."""
        owner = self._owner()
        if owner is None:
            raise RecordFault(f"{self._folder} was moved or emptied while it was played")
        if owner != self._self:
            raise RecordFault(
                f"{self._folder} was taken over by {owner}: its file system carries no locks "
                "between machines, or the folder was moved. What was recorded before is kept, and "
                "the other goes on"
            )

    def _owner(self) -> Owner | None:
        """None if nobody's name can be read."""
        try:
            return Owner(**json.loads(self._owner_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None
