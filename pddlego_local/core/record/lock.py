"""A cell's folder belongs to one process at a time, on this machine or on another.

Two things say whose it is. The system's lock on `.lock` ends with its process, however that dies,
so that the cell can be taken over at once. Between machines it holds only where the file system
carries it, and some do not (NFS mounted `nolock`, Lustre `localflock`, BeeGFS as it comes). There
`.owner.json` holds: one machine alone can make it, its owner renews it every `BEAT_S` seconds, and
it is void when it was not renewed for `SILENT_S`.

What this cannot know: whether a silent machine is dead, or only cut off. One that comes back finds
another's name and must not write (`check`). Machines of one name count as one.
"""

import contextlib
import datetime
import fcntl
import json
import os
import socket
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from pddlego_local.core.errors import CellHeld, RecordFault

BEAT_S = 10.0
SILENT_S = 120.0
SETTLE_S = 2.0  # two machines that take over at once: the one that wrote last has the cell


@dataclass(frozen=True)
class Owner:
    """The process that has a folder."""

    host: str
    pid: int
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


class Hold:
    """This process's hold of one folder, from `take` to `release`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner_file = folder / ".owner.json"
        self._lock: IO[str] | None = None
        self._mine: Owner | None = None
        self._released = threading.Event()

    def take(self) -> None:
        """Raises CellHeld, which says who has the folder, and OSError."""
        self._lock = (self._folder / ".lock").open("w")
        try:
            self._claim(self._lock)
        except BaseException:
            self._lock.close()
            self._lock = None
            raise
        threading.Thread(target=self._beat, daemon=True).start()

    def release(self) -> None:
        """Also where nothing is held."""
        self._released.set()
        if self._lock is None:
            return
        with contextlib.suppress(OSError):
            if self._owner() == self._mine:
                self._owner_file.unlink()
        self._lock.close()
        self._lock = None

    def check(self) -> None:
        """Raises RecordFault if the folder is this process's no more."""
        owner = self._owner()
        if owner is None:
            raise RecordFault(f"{self._folder} was moved or emptied while it was played")
        if owner != self._mine:
            raise RecordFault(
                f"{self._folder} was taken over by {owner}: this process gave no sign of life for "
                f"{SILENT_S:.0f} s. What was recorded before is kept, and the other goes on"
            )

    def _claim(self, lock: IO[str]) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise self._refusal() from error
        since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self._mine = Owner(socket.gethostname(), os.getpid(), since)
        mine = json.dumps(asdict(self._mine))
        try:
            with self._owner_file.open("x") as file:
                file.write(mine)
        except FileExistsError:
            self._take_over(lock, mine)

    def _take_over(self, lock: IO[str], mine: str) -> None:
        """From an owner that left without a word. Of this machine: the lock says that it died."""
        if self._owner() is None:  # it is being written now, or its writer died just then
            time.sleep(SETTLE_S)
        owner = self._owner()
        elsewhere = owner is not None and owner.host != socket.gethostname()
        if elsewhere and (silent_s := self._silent_s(lock)) < SILENT_S:
            raise self._refusal(
                f"; its last sign of life was {silent_s:.0f} s ago, and after {SILENT_S:.0f} s "
                "without one the cell can be taken over"
            )
        replacement = self._owner_file.with_suffix(f".{socket.gethostname()}-{os.getpid()}")
        replacement.write_text(mine)
        replacement.replace(self._owner_file)
        if elsewhere:
            time.sleep(SETTLE_S)
            if self._owner() != self._mine:
                raise self._refusal()

    def _refusal(self, more: str = "") -> CellHeld:
        owner = self._owner()
        who = f": {owner}" if owner else ""
        return CellHeld(f"{self._folder} is being played by another process{who}{more}")

    def _owner(self) -> Owner | None:
        """None if nobody's name can be read."""
        try:
            return Owner(**json.loads(self._owner_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def _silent_s(self, lock: IO[str]) -> float:
        """By the file system's clock, which is one for all machines."""
        os.utime(lock.fileno())
        try:
            return os.fstat(lock.fileno()).st_mtime - self._owner_file.stat().st_mtime
        except FileNotFoundError:  # let go since
            return SILENT_S

    def _beat(self) -> None:
        while not self._released.wait(BEAT_S):
            with contextlib.suppress(OSError):
                if self._owner() == self._mine:
                    os.utime(self._owner_file)
