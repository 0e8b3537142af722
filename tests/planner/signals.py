"""Signals that a test sends to the planner's processes while they work on a task."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from pddlego_local.core.errors import PlannerFault
from pddlego_local.planner import FastDownward
from tests.planner.tasks import hard_search, heavy_translation

Stage = Literal["translation", "search"]
Target = Literal["child", "worker"]

TASKS = {"translation": heavy_translation(5), "search": hard_search(7)}
"""Tasks with a plan of which the stage takes some tenths of a second."""

ENDLESS = {"translation": heavy_translation(), "search": hard_search()}

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
HARMLESS = (
    *(signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH),
    *(signal.SIGPIPE, signal.SIGXFSZ),  # Python ignores them, and so do its children
)
EVERY = [
    n for n in sorted(signal.valid_signals()) if n not in STOPS and n <= signal.SIGRTMIN
]


ENDING = [number for number in EVERY if number not in HARMLESS]


def name_of(number: int) -> str:
    return number.name if isinstance(number, signal.Signals) else str(number)


class Sender:
    """Sends a signal to one process after the other: to a new one when it has been seen
    in the stage for `after_s`. Of `every` new processes, only the first is struck.
    """

    def __init__(
        self,
        number: int,
        stage: Stage,
        target: Target,
        times: int,
        after_s: float = 0.0,
        every: int = 1,
    ) -> None:
        self.sent = 0
        self._number = number
        self._stage = stage
        self._target = target
        self._times = times
        self._after_s = after_s
        self._every = every
        self._done = threading.Event()
        self._seen = dict[int, float]()
        self._struck = set[int]()

    def run(self) -> None:
        while self.sent < self._times and not self._done.is_set():
            for worker, child in tasks_in(self._stage):
                if self._is_due(child) and self.sent < self._times:
                    target = child if self._target == "child" else worker
                    with suppress(ProcessLookupError):
                        os.kill(target, self._number)
                        self._struck.add(child)
                        self.sent += 1
            time.sleep(0.0005)

    def _is_due(self, child: int) -> bool:
        now_s = time.monotonic()
        seen_for_s = now_s - self._seen.setdefault(child, now_s)
        if child in self._struck or seen_for_s < self._after_s:
            return False
        return [*self._seen].index(child) % self._every == 0

    @contextmanager
    def sending(self) -> Iterator[None]:
        self._done.clear()
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()
            # A child that was stopped before it asked to die with its worker would stay
            # for ever.
            for child in self._struck:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGCONT)


def tasks_in(stage: Stage) -> list[tuple[int, int]]:
    """The numbers of the workers that have a child in this stage, and those of the
    children.
    """
    found = list[tuple[int, int]]()
    with suppress(OSError):  # one of them has ended
        for worker in filter(is_worker, children_of(os.getpid())):
            for child in children_of(worker):
                name = Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip()
                if (name == "downward") == (stage == "search"):
                    found.append((worker, child))
    return found


def children_of(process: int) -> list[int]:
    """As psutil does it, but within a short search's time."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [
        int(child)
        for thread in threads
        for child in thread.read_text(encoding="utf-8").split()
    ]


def is_worker(process: int) -> bool:
    return b"planner/worker.py" in Path(f"/proc/{process}/cmdline").read_bytes()


def struck(
    number: int, stage: Stage, target: Target, times: int, after_s: float = 0.05
) -> tuple[str, str]:
    """(outcome or "fault", message) of a task whose processes are sent a signal.

    One that is struck once has a plan; one that is struck more often would not end by
    itself.
    """
    tasks = TASKS if times == 1 else ENDLESS
    sender = Sender(number, stage, target, times, after_s)
    with FastDownward() as planner:
        # A machine may be so busy that the task ends before the signal.
        while not sender.sent:
            with sender.sending():
                try:
                    result = planner.plan(*tasks[stage])
                except PlannerFault as fault:
                    end = ("fault", str(fault))
                else:
                    end = (result.outcome, result.message)
    return end
