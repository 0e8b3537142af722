"""Warm worker processes: who starts them, lends them out, restarts them and ends them; and where
Fast Downward lies.

Knows the lines of JSON that worker.py takes and gives, and nothing of PDDL or of what a reply
means. Fast Downward's packages are found without importing them: they are GPL-3.0.
"""

import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from pddlego_local.core.errors import MissingPart, PlannerFault

START_AND_REPLY_S = 30.0  # what a worker may take beyond the task's own wall limit
WORKER = Path(__file__).with_name("worker.py")
INSTALL = "install it with `python -m pip install up-fast-downward==1.0.0`"

Settings = dict[str, Any]
Reply = dict[str, Any]


class Installation(NamedTuple):
    """`translator` is the folder that holds the package `fast_downward`; `search` the binary.

    It is the copy that lies beside the binary: TextWorld installs a package `fast_downward` too,
    of another version, over the one that Python would find.
    """

    translator: Path
    search: Path


def find_fast_downward() -> Installation:
    """The installed planner; MissingPart if a piece of it is not there."""
    spec = find_spec("up_fast_downward")
    if spec is None or not spec.submodule_search_locations:
        raise MissingPart(
            f"Fast Downward (Python package `up_fast_downward`) is not installed; {INSTALL}."
        )
    release = Path(spec.submodule_search_locations[0]) / "downward/builds/release/bin"
    translator, search = release / "fast_downward", release / "downward"
    if not (translator / "translate").is_dir():
        raise MissingPart(f"Fast Downward's translator is not in {translator}; {INSTALL}.")
    if not os.access(search, os.X_OK):
        raise MissingPart(f"Fast Downward's search binary {search} is not there; {INSTALL}.")
    return Installation(translator.parent, search)


class WorkerDied(Exception):
    """The warm process, or its child, ended without a reply and not by a limit of ours."""


class WarmWorker:
    """One process of worker.py; one task at a time."""

    def __init__(self, settings: Settings) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._caller = threading.Lock()
        ours, theirs = socket.socketpair()
        ours.settimeout(settings["wall_s"] + START_AND_REPLY_S)
        # A fixed hash seed: the translator's sets of strings must not depend on the process.
        # A process group of its own keeps Ctrl-C for us, who then end it in order.
        with ours, theirs:
            self._lines = ours.makefile("rwb")
            self._process = subprocess.Popen(
                [sys.executable, "-s", "-S", "-P", WORKER, json.dumps(settings)],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._stderr,
                env={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
                cwd="/",
                start_new_session=True,
            )

    def ask(self, domain: str, problem: str) -> Reply:
        """Its reply; WorkerDied if there is none."""
        with self._caller:
            try:
                self._lines.write(json.dumps([domain, problem]).encode() + b"\n")
                self._lines.flush()
                line = self._lines.readline()
            except TimeoutError:
                raise WorkerDied("it did not answer in time") from None
            except OSError:
                line = b""
            if not line.endswith(b"\n"):
                raise WorkerDied(self._last_words())
        reply: Reply = json.loads(line)
        if reply["code"] == -signal.SIGKILL and not reply["stopped"]:
            raise WorkerDied("its child was killed from outside, perhaps for want of memory")
        return reply

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        return f"it ended with status {self._process.returncode}{last}"

    def close(self) -> None:
        """Kill it, and its child with it; a task under way raises WorkerDied in its own thread."""
        self._process.kill()
        with self._caller:
            with suppress(OSError):  # what could not be sent to it
                self._lines.close()
            self._stderr.close()
            self._process.wait()


def _cores() -> int:
    """How many this process may use: of the machine, by its affinity and by its container."""
    cores = float(len(os.sched_getaffinity(0)))
    with suppress(OSError, ValueError):  # no such file, or "max"
        quota_us, period_us = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, int(quota_us) / int(period_us))
    return max(1, math.ceil(cores))


_CORES = threading.BoundedSemaphore(_cores())
"""Tasks of all pools that run at once: with more of them than cores, the wall clock would decide
what the CPU limit should."""


class WorkerPool:
    """At most `size` warm workers, started when they are needed. Thread-safe.

    `settings` are those of worker.py, apart from where Fast Downward lies.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        self._settings = settings
        self._places = threading.BoundedSemaphore(size)
        self._changing = threading.Lock()
        self._idle: list[WarmWorker] = []
        self._alive: set[WarmWorker] = set()
        self._closed = False
        self.waiting = 0  # for a place

    def ask(self, domain: str, problem: str) -> Reply:
        """The reply of a worker, and the time that it took under "wall_time_s". A dead one is
        replaced once; then PlannerFault."""
        with self._changing:
            self.waiting += 1
        with self._places, _CORES:
            with self._changing:
                self.waiting -= 1
                idle = self._idle.pop() if self._idle else None
            last_words = ""
            for worker in (idle, None):
                try:
                    return self._ask_one(worker or self._start(), domain, problem)
                except WorkerDied as death:
                    last_words = str(death)
            raise PlannerFault(
                f"Fast Downward's worker process died twice on one task ({last_words}); check free "
                "memory, lower planner.workers or planner.limits.memory_mb, and run again."
            )

    def _ask_one(self, worker: WarmWorker, domain: str, problem: str) -> Reply:
        began = time.monotonic()
        try:
            reply = worker.ask(domain, problem)
        except BaseException:
            with self._changing:
                self._alive.discard(worker)
            worker.close()
            raise
        reply["wall_time_s"] = time.monotonic() - began
        with self._changing:
            self._idle.append(worker)
        return reply

    def _start(self) -> WarmWorker:
        found = find_fast_downward()
        folders = {"package_folder": str(found.translator), "binary": str(found.search)}
        with self._changing:
            if self._closed:
                raise PlannerFault("The planner has been closed; make a new FastDownward.")
            try:
                worker = WarmWorker(self._settings | folders)
            except OSError as error:
                failed = f"Fast Downward's worker process could not be started ({error})"
                remedy = "free some memory or processes and run again"
                raise PlannerFault(f"{failed}; {remedy}.") from None
            self._alive.add(worker)
        return worker

    def close(self) -> None:
        """End all workers; any number of calls."""
        with self._changing:
            self._closed = True
            self._idle.clear()
            workers = list(self._alive)
            self._alive.clear()
        for worker in workers:
            worker.close()
