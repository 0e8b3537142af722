"""Starts, lends out, restarts and ends warm worker processes, and finds Fast Downward.

This module knows the JSON lines that worker.py reads and writes, but nothing of PDDL or
of the meaning of a reply. It finds Fast Downward's packages without importing them:
they are GPL-3.0.
"""

import json
import math
import os
import resource
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

from pddlego_local.core.errors import ConfigError, MissingPart, PlannerFault

START_AND_REPLY_S = (
    30.0  # time that a worker may take beyond the wall limit of its task
)
WORKER = Path(__file__).with_name("worker.py")
INSTALL = "install it with `python -m pip install up-fast-downward==1.0.0`"

Settings = dict[str, Any]
Reply = dict[str, Any]


class Installation(NamedTuple):
    """`translator` is the folder that holds the package `fast_downward`; `search` the
    binary.

    The translator is the copy beside the binary. TextWorld also installs a package
    `fast_downward`, of another version, which overwrites the one that Python would
    find.
    """

    translator: Path
    search: Path


def find_fast_downward() -> Installation:
    """Finds the installed planner. Raises MissingPart if a part of it is missing."""
    spec = find_spec("up_fast_downward")
    if spec is None or not spec.submodule_search_locations:
        raise MissingPart(
            f"Fast Downward (`up_fast_downward`) is not installed; {INSTALL}."
        )
    release = Path(spec.submodule_search_locations[0]) / "downward/builds/release/bin"
    translator, search = release / "fast_downward", release / "downward"
    if not (translator / "translate").is_dir():
        raise MissingPart(
            f"Fast Downward's translator is not in {translator}; {INSTALL}."
        )
    if not os.access(search, os.X_OK):
        raise MissingPart(
            f"Fast Downward's search binary {search} is not there; {INSTALL}."
        )
    return Installation(translator.parent, search)


# Exit codes of Fast Downward: its search received SIGXCPU, and (worker.py) it was not
# begun.
OUT_OF_TIME, NOT_BEGUN = 23, 99
CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE")
TRIES = 3  # at most, for one task


class WorkerDied(Exception):
    """The warm process, or its child, ended without a verdict, and no limit of ours
    ended it.

    Somebody or something outside of the task ended it, so this says nothing about the
    task.
    """


class Crashed(Exception):
    """The child ended by a signal that a crash sends, but that others could have sent
    too.
    """

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"its child crashed ({reply['signal']})")
        self.reply = reply


class WarmWorker:
    """One process of worker.py, which works on one task at a time."""

    def __init__(self, settings: Settings) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._caller = threading.Lock()
        ours, theirs = socket.socketpair()
        ours.settimeout(settings["wall_s"] + START_AND_REPLY_S)
        # The hash seed is fixed because the order of the translator's sets of strings
        # must not depend on the process. In a new session, Ctrl-C reaches only this
        # process, which then ends the worker cleanly.
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
        """Returns the worker's reply, if it has a verdict. Raises WorkerDied or Crashed
        if not.
        """
        with self._caller:
            try:
                task = json.dumps([domain, problem])
                self._lines.write(task.encode() + b"\n")
                self._lines.flush()
                line = self._lines.readline()
            except TimeoutError:
                raise WorkerDied("it did not answer in time") from None
            except OSError:
                line = b""
            if not line.endswith(b"\n"):
                raise WorkerDied(self._last_words())
        reply: Reply = json.loads(line)
        reply["signal"] = _signal(reply)
        if reply["code"] == NOT_BEGUN:
            raise WorkerDied(f"its child could not work: {reply['log']}")
        if reply["signal"] in CRASHES:
            raise Crashed(reply)
        if reply["signal"]:
            perhaps = (
                ", perhaps because memory ran out"
                if reply["signal"] == "SIGKILL"
                else ""
            )
            raise WorkerDied(
                f"its child was ended by {reply['signal']} from outside{perhaps}"
            )
        return reply

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        return f"it ended with status {self._process.returncode}{last}"

    def close(self) -> None:
        """Kills the process and its child. A running task raises WorkerDied in its own
        thread.
        """
        self._process.kill()
        with self._caller:
            with suppress(OSError):  # closing flushes data that could not be sent
                self._lines.close()
            self._stderr.close()
            self._process.wait()


def _signal(reply: Reply) -> str:
    """The name of the signal that ended a worker's child, "" if it ended by itself or
    at a limit of ours.
    """
    code: int = reply["code"]
    if reply["stopped"]:
        return ""
    if code == OUT_OF_TIME:
        return "SIGXCPU"
    if code >= 0:
        return ""
    try:
        return signal.Signals(-code).name
    except ValueError:  # a real-time signal
        return f"signal {-code}"


def check_limits(settings: Settings) -> None:
    """Raises ConfigError if this process may not set the limits that the settings ask
    for.

    Its own lower limits would otherwise end a task earlier than the records say.
    """
    memory_bytes = settings["memory_mb"] << 20
    cpu_s = math.ceil(settings["cpu_s"]) + 1
    _check_limit(settings, "memory_mb", resource.RLIMIT_AS, memory_bytes, "-v")
    _check_limit(settings, "memory_mb", resource.RLIMIT_FSIZE, memory_bytes, "-f")
    _check_limit(settings, "cpu_s", resource.RLIMIT_CPU, cpu_s, "-t")


def _check_limit(
    settings: Settings, setting: str, kind: int, needed: int, flag: str
) -> None:
    _, highest = resource.getrlimit(kind)
    if highest == resource.RLIM_INFINITY or highest >= needed:
        return
    per, unit = (1, "s") if setting == "cpu_s" else (1 << 20, "MiB")
    raise ConfigError(
        f"This process has a limit of {highest // per} {unit} (`ulimit {flag}`), and"
        f" planner.limits.{setting}={settings[setting]:.10g} needs"
        f" {needed // per} {unit}: raise the limit, or lower planner.limits.{setting}."
    )


def _cores() -> int:
    """How many cores this process may use, by its CPU affinity and its container's
    quota.
    """
    cores = float(len(os.sched_getaffinity(0)))
    with suppress(OSError, ValueError):  # no such file, or "max"
        maximum = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="utf-8")
        quota_us, period_us = map(int, maximum.split())
        cores = min(cores, quota_us / period_us)
    return max(1, math.ceil(cores))


_CORES = threading.BoundedSemaphore(_cores())
"""Limits the tasks of all pools that run at once. With more tasks than cores, tasks
would end by the wall-clock limit instead of the CPU limit.
"""


def _forget_tasks_of_parent() -> None:
    """After a fork, none of the parent's tasks will end in this process."""
    global _CORES
    _CORES = threading.BoundedSemaphore(_cores())


os.register_at_fork(after_in_child=_forget_tasks_of_parent)


class WorkerPool:
    """A pool of at most `size` warm workers, which are started when needed.
    Thread-safe.

    `settings` are the settings of worker.py, without the paths of Fast Downward.
    """

    def __init__(self, size: int, settings: Settings) -> None:
        self._settings = settings
        self._places = threading.BoundedSemaphore(size)
        self._changing = threading.Lock()
        self._idle: list[WarmWorker] = []
        self._alive: set[WarmWorker] = set()
        self._closed = False
        self.waiting = 0  # calls that wait for a place

    def ask(self, domain: str, problem: str) -> Reply:
        """Returns a worker's reply, with the time that it took under "wall_time_s".

        If the worker or its child ends without a verdict, the task is given to a fresh
        worker. The same crash twice is the task's own, so its reply is returned, with
        the signal's name under "signal". Raises PlannerFault if something from outside
        ends two workers, if there is no verdict after `TRIES` tries, if no worker can
        be started, or after `close`. Raises ConfigError if the limits are higher than
        this process may set.
        """
        with self._changing:
            self.waiting += 1
        with self._places, _CORES:
            with self._changing:
                self.waiting -= 1
                idle = self._idle.pop() if self._idle else None
            return self._ask_until_verdict(idle, domain, problem)

    def _ask_until_verdict(
        self, idle: WarmWorker | None, domain: str, problem: str
    ) -> Reply:
        ends = list[str]()  # by crashes the signals, and "" for an end from outside
        last_words = ""
        while len(ends) < TRIES and ends.count("") < 2:
            try:
                return self._ask_one(idle or self._start(), domain, problem)
            except WorkerDied as death:
                last_words = str(death)
                ends.append("")
            except Crashed as crash:
                last_words = str(crash)
                if crash.reply["signal"] in ends:
                    return crash.reply
                ends.append(crash.reply["signal"])
            idle = None
        raise PlannerFault(
            "Fast Downward's worker process died"
            f" {'twice' if len(ends) == 2 else 'three times'} on one task"
            f" ({last_words}); find out what ended it and run again. If memory ran out,"
            " lower planner.workers or planner.limits.memory_mb."
        )

    def _ask_one(self, worker: WarmWorker, domain: str, problem: str) -> Reply:
        began = time.monotonic()
        try:
            reply = worker.ask(domain, problem)
        except BaseException as end:
            if isinstance(end, Crashed):
                end.reply["wall_time_s"] = time.monotonic() - began
            with self._changing:
                self._alive.discard(worker)
            worker.close()
            raise
        reply["wall_time_s"] = time.monotonic() - began
        with self._changing:
            self._idle.append(worker)
        return reply

    def _start(self) -> WarmWorker:
        check_limits(self._settings)
        found = find_fast_downward()
        folders = {"package_folder": str(found.translator), "binary": str(found.search)}
        with self._changing:
            if self._closed:
                raise PlannerFault(
                    "The planner has been closed; make a new FastDownward."
                )
            try:
                worker = WarmWorker(self._settings | folders)
            except OSError as error:
                failed = (
                    f"Fast Downward's worker process could not be started ({error})"
                )
                remedy = "free some memory or processes and run again"
                raise PlannerFault(f"{failed}; {remedy}.") from None
            self._alive.add(worker)
        return worker

    def close(self) -> None:
        """Ends all workers. May be called any number of times."""
        with self._changing:
            self._closed = True
            self._idle.clear()
            workers = list(self._alive)
            self._alive.clear()
        for worker in workers:
            worker.close()
