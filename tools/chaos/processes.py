"""The processes that a sweep starts: which is which, and whether one is left."""

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

PR_SET_CHILD_SUBREAPER = 36

Kind = Callable[[psutil.Process], bool]


def adopt_orphans() -> None:
    """From now on every process below us whose parent dies is ours, so that none escapes."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def alive() -> list[psutil.Process]:
    """All processes below us that run, oldest first."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return sorted(found, key=psutil.Process.create_time)


def end_all() -> None:
    for process in alive():
        with suppress(psutil.NoSuchProcess):
            process.kill()


def below(parent: int, kind: Kind) -> list[psutil.Process]:
    """Those of a kind that one process has started, at any depth, parents before children."""
    found = []
    with suppress(psutil.Error):
        for process in psutil.Process(parent).children(recursive=True):
            with suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE and kind(process):
                    found.append(process)
    return found


def running(script: str) -> Kind:
    """Processes with this at the end of a word of their command line."""
    return lambda process: any(word.endswith(script) for word in process.cmdline())


def started_by(script: str) -> Kind:
    """Processes whose parent runs this: for the planner's worker the one that plans."""

    def kind(process: psutil.Process) -> bool:
        parent = process.parent()
        return parent is not None and running(script)(parent)

    return kind


def named(name: str) -> Kind:
    return lambda process: process.name().startswith(name)


def left_over(but: set[int], within_s: float) -> list[str]:
    """What still runs below us after this many seconds, apart from `but` and what is below it."""
    deadline = time.monotonic() + within_s
    while True:
        spared = set(but)
        left = []
        for process in alive():
            with suppress(psutil.Error):
                if process.pid in spared or process.ppid() in spared:
                    spared.add(process.pid)
                else:
                    left.append(f"{process.name()} ({process.pid})")
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)
