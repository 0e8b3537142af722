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
from tests.planner.tasks import hard_search, heavy_translation, workers

Stage = Literal["translation", "search"]
Target = Literal["child", "worker"]

TASKS = {"translation": heavy_translation(5), "search": hard_search(7)}
"""Tasks with a plan of which the stage takes some tenths of a second."""

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
EVERY = [n for n in sorted(signal.valid_signals()) if n not in STOPS and n <= signal.SIGRTMIN]


def name_of(number: int) -> str:
    return number.name if isinstance(number, signal.Signals) else str(number)


class Sender:
    """Sends a signal to one process after the other: to a new one when it has been seen in the
    stage for `after_s`."""

    def __init__(
        self, number: int, stage: Stage, target: Target, times: int, after_s: float = 0.0
    ) -> None:
        self.sent = 0
        self._number, self._stage, self._target, self._times = number, stage, target, times
        self._after_s = after_s
        self._done = threading.Event()
        self._seen = dict[int, float]()
        self._struck = set[int]()

    def run(self) -> None:
        while self.sent < self._times and not self._done.is_set():
            for worker, child in tasks_in(self._stage):
                seen_s = time.monotonic() - self._seen.setdefault(child, time.monotonic())
                due = child not in self._struck and seen_s >= self._after_s
                if due and self.sent < self._times:
                    with suppress(ProcessLookupError):
                        os.kill(child if self._target == "child" else worker, self._number)
                        self._struck.add(child)
                        self.sent += 1
            time.sleep(0.001)

    @contextmanager
    def sending(self) -> Iterator[None]:
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()


def tasks_in(stage: Stage) -> list[tuple[int, int]]:
    """The numbers of the workers that have a child in this stage, and those of the children."""
    found = list[tuple[int, int]]()
    for worker in [one.pid for one in workers()]:
        with suppress(OSError):
            for child in Path(f"/proc/{worker}/task/{worker}/children").read_text().split():
                name = Path(f"/proc/{child}/comm").read_text().strip()
                if (name == "downward") == (stage == "search"):
                    found.append((worker, int(child)))
    return found


def struck(
    number: int, stage: Stage, target: Target, times: int, after_s: float = 0.05
) -> tuple[str, str]:
    """(outcome or "fault", message) of a task with a plan whose processes are sent a signal."""
    with FastDownward() as planner:
        sender = Sender(number, stage, target, times, after_s)
        with sender.sending():
            try:
                result = planner.plan(*TASKS[stage])
            except PlannerFault as fault:
                end = ("fault", str(fault))
            else:
                end = (result.outcome, result.message)
    assert sender.sent, "the task ended before the signal was sent"
    return end
