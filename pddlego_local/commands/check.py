"""`pddlego check`: the static check, for two files or for JSON lines."""

import argparse
import ctypes
import dataclasses
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, TypeVar

from pddlego_local.commands.shared import pairs
from pddlego_local.core.visible import visible
from pddlego_local.pddl.check import check

HELP = "check PDDL without planning: syntax, names, types"
PR_SET_PDEATHSIG = 1  # prctl(2): the signal that a process gets when its parent dies
add_arguments = pairs.add_arguments

T = TypeVar("T")


def carry_out(arguments: argparse.Namespace) -> int:
    """With two files 1 if they hold a fault; with --jsonl 0 once every line has its verdict, 2 if
    one held no pair."""
    with pairs.entries_of(arguments) as entries:
        if arguments.jsonl or arguments.out:
            lines = pairs.answer_lines(_verdict, entries, Processes, arguments.workers)
            return pairs.write_lines(lines, arguments.out)
        (entry,) = entries
    verdict = check(entry.domain, entry.problem)
    for fault in verdict.faults:
        print(visible(f"{fault.kind}: {fault}"))
    if not verdict.accepted:
        print("the planner will refuse this")
        return 1
    print("no fault that the planner would refuse")
    return 0


def _verdict(domain: str, problem: str) -> dict[str, Any]:
    found = check(domain, problem)
    faults = [dataclasses.asdict(fault) for fault in found.faults]
    return {"syntax": found.syntax, "symbols": found.symbols, "faults": faults}


class Processes(ProcessPoolExecutor):
    """Processes that share nothing with this one, and never outlive it. They start with Ctrl-C
    blocked: none shows a traceback while it imports."""

    def __init__(self, workers: int) -> None:
        fresh = multiprocessing.get_context("spawn")
        super().__init__(workers, mp_context=fresh, initializer=_end_with_the_parent)

    def submit(self, work: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(work, *args, **options)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = multiprocessing.parent_process()
    if parent is None or os.getppid() != parent.pid:  # it died before the line above
        os._exit(1)
