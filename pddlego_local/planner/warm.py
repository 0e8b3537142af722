"""Warm worker processes: who starts them, lends them out, restarts them and ends them.

Knows the frames of worker.py's pipes and nothing of PDDL or of what a reply means.
"""

import json
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import PlannerFault
from pddlego_local.planner.installation import find_fast_downward

START_AND_REPLY_S = 30.0  # what a worker may take beyond the task's own wall limit
WORKER = Path(__file__).with_name("worker.py")

Settings = dict[str, Any]
Reply = dict[str, Any]


class WorkerDied(Exception):
    """The warm process, or its child, ended without a reply and not by a limit of ours."""


class WarmWorker:
    """One process of worker.py; one task at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._asking = threading.Lock()
        # A fixed hash seed: the translator's sets of strings must not depend on the process.
        # A process group of its own keeps Ctrl-C for us, who then end it in order.
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-S", "-P", WORKER, json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )

    def ask(self, domain: str, problem: str) -> Reply:
        """Its reply; WorkerDied if there is none."""
        with self._asking:
            self._send(json.dumps([domain, problem]).encode())
            deadline = time.monotonic() + self._settings["wall_s"] + START_AND_REPLY_S
            length = int.from_bytes(self._receive(8, deadline), "big")
            reply: Reply = json.loads(self._receive(length, deadline))
        if reply["code"] == -signal.SIGKILL and not reply["stopped"]:
            raise WorkerDied("its child was killed from outside, perhaps for want of memory")
        return reply

    def _send(self, body: bytes) -> None:
        assert self._process.stdin is not None
        rest = memoryview(len(body).to_bytes(8, "big") + body)
        with suppress(OSError):  # a dead worker: seen when it does not answer
            while rest:
                rest = rest[self._process.stdin.write(rest) :]

    def _receive(self, length: int, deadline: float) -> bytes:
        assert self._process.stdout is not None
        readable = select.poll()
        readable.register(self._process.stdout, select.POLLIN)
        received = bytearray()
        while len(received) < length:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not readable.poll(1000 * left_s):
                raise WorkerDied("it did not answer in time")
            chunk = self._process.stdout.read(length - len(received))
            if not chunk:
                raise WorkerDied(self._last_words())
            received += chunk
        return bytes(received)

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        return f"it ended with status {self._process.returncode}{last}"

    def close(self) -> None:
        """Kill it, and its child with it; a task under way raises WorkerDied in its own thread."""
        self._process.kill()
        with self._asking:
            for stream in (self._process.stdin, self._process.stdout, self._stderr):
                assert stream is not None
                stream.close()
            self._process.wait()


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
        with self._places:
            with self._changing:
                self.waiting -= 1
            try:
                return self._ask_one(self._take(), domain, problem)
            except WorkerDied:
                pass
            try:
                return self._ask_one(self._start(), domain, problem)
            except WorkerDied as death:
                raise PlannerFault(
                    f"Fast Downward's worker process died twice on one task ({death}); check free "
                    "memory, lower planner.workers or planner.limits.memory_mb, and run again."
                ) from None

    def _ask_one(self, worker: WarmWorker, domain: str, problem: str) -> Reply:
        began = time.monotonic()
        try:
            reply = worker.ask(domain, problem)
        except BaseException:
            self._drop(worker)
            raise
        reply["wall_time_s"] = time.monotonic() - began
        with self._changing:
            self._idle.append(worker)
        return reply

    def _take(self) -> WarmWorker:
        with self._changing:
            if self._idle:
                return self._idle.pop()
        return self._start()

    def _start(self) -> WarmWorker:
        installation = find_fast_downward()
        folders = {
            "package_folder": str(installation.translator),
            "binary": str(installation.search),
        }
        with self._changing:
            if self._closed:
                raise PlannerFault("The planner has been closed; make a new FastDownward.")
            try:
                worker = WarmWorker(self._settings | folders)
            except OSError as error:
                raise PlannerFault(
                    f"Fast Downward's worker process could not be started ({error}); free some "
                    "memory or processes and run again."
                ) from None
            self._alive.add(worker)
        return worker

    def _drop(self, worker: WarmWorker) -> None:
        with self._changing:
            self._alive.discard(worker)
        worker.close()

    def close(self) -> None:
        """End all workers; any number of calls."""
        with self._changing:
            self._closed = True
            self._idle.clear()
            workers = list(self._alive)
        for worker in workers:
            self._drop(worker)
