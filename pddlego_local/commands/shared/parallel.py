"""Work on many things by several workers; few of them are read ahead of the results."""

import ctypes
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from itertools import islice
from typing import Any, TypeVar

from pddlego_local.core.errors import InfrastructureError

MOST_AHEAD = 32  # things for each worker that are read before the first of them has its result
PR_SET_PDEATHSIG = 1  # prctl(2): the signal that a process gets when its parent dies

S = TypeVar("S")
T = TypeVar("T")


def in_order(
    work: Callable[[S], T], things: Iterable[S], pool: Executor, workers: int
) -> Iterator[T]:
    """`work` of each, in the order of `things`, which may be endless. The pool is shut down.

    Raises the error of the first that failed, InfrastructureError if a worker process died.
    """
    pending: deque[tuple[S, Future[T]]] = deque()
    try:
        for thing in things:
            pending.append((thing, pool.submit(work, thing)))
            while pending and (len(pending) > MOST_AHEAD * workers or pending[0][1].done()):
                yield pending[0][1].result()
                pending.popleft()
        while pending:
            yield pending[0][1].result()
            pending.popleft()
    except BrokenExecutor:
        first = pending[0][0] if pending else thing
        raise InfrastructureError(
            f"{first}: a worker process died at this line or soon after it; check free memory, "
            "take fewer --workers, and run again"
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def as_completed(work: Callable[[S], T], things: Iterable[S], workers: int) -> Iterator[T]:
    """`work` of each by so many threads, as it ends. Raises the error of the first that failed."""
    pool, left = ThreadPoolExecutor(workers), iter(things)
    pending = {pool.submit(work, thing) for thing in islice(left, workers + 1)}
    try:
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
            pending |= {pool.submit(work, thing) for thing in islice(left, len(done))}
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


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
