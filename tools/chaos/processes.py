"""Finds the processes that a sweep starts, by kind, and those that are left after its
end.
"""

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

PR_SET_CHILD_SUBREAPER = 36

Kind = Callable[[psutil.Process], bool]


def adopt_orphans() -> None:
    """Makes this process the parent of each descendant whose parent dies, so that none
    escapes.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def _running_below(process: psutil.Process) -> list[psutil.Process]:
    """Returns the running descendants of a process, parents before children."""
    found = []
    for child in process.children(recursive=True):
        with suppress(psutil.Error):
            if child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
    return found


def alive() -> list[psutil.Process]:
    """Returns all running descendants of this process, oldest first."""
    return sorted(_running_below(psutil.Process()), key=psutil.Process.create_time)


def end_all() -> None:
    for process in alive():
        with suppress(psutil.NoSuchProcess):
            process.kill()


def below(parent: int, kind: Kind) -> list[psutil.Process]:
    """Returns the descendants of `parent` that are of a kind, parents before
    children.
    """
    found = []
    with suppress(psutil.Error):
        for process in _running_below(psutil.Process(parent)):
            with suppress(psutil.Error):
                if kind(process):
                    found.append(process)
    return found


def running(script: str) -> Kind:
    """Matches processes with a word in their command line that ends with `script`."""
    return lambda process: any(word.endswith(script) for word in process.cmdline())


def started_by(script: str) -> Kind:
    """Matches processes whose parent runs `script`: for the planner's worker, its
    planning task.
    """

    def kind(process: psutil.Process) -> bool:
        parent = process.parent()
        return parent is not None and running(script)(parent)

    return kind


def named(name: str) -> Kind:
    return lambda process: process.name().startswith(name)


def left_over(but: set[int], within_s: float) -> list[str]:
    """Returns the descendants of this process that still run after `within_s` seconds,
    except the processes in `but` and their descendants.
    """
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
