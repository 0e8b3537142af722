"""One thing after another done by several workers, with the results in the order of the input."""

import ctypes
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any, TypeVar

from pddlego_local.commands.shared.pairs import Entry
from pddlego_local.core.errors import InfrastructureError

MOST_AHEAD = 32  # lines for each worker that are read before the first of them has its result
PR_SET_PDEATHSIG = 1

T = TypeVar("T")


def in_order(
    work: Callable[[Entry], T], entries: Iterable[Entry], pool: Executor, workers: int
) -> Iterator[T]:
    """`work` of each entry, in the order of the entries, which are read as they are needed.

    InfrastructureError names the entry. The pool is shut down; when interrupted, without waiting
    for work under way.
    """
    pending: deque[tuple[Entry, Future[T]]] = deque()
    try:
        for entry in entries:
            pending.append((entry, _submit(work, entry, pool)))
            while pending and (len(pending) > MOST_AHEAD * workers or pending[0][1].done()):
                yield _result(*pending.popleft())
        while pending:
            yield _result(*pending.popleft())
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


class Here(Executor):
    """No pool: whatever is submitted is done at once."""

    def submit(self, work: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(work(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future


def processes(workers: int) -> Executor:
    """A pool of processes that share nothing with this one and never outlive it."""
    fresh = multiprocessing.get_context("spawn")
    return _Processes(workers, mp_context=fresh, initializer=_end_with_the_parent)


class _Processes(ProcessPoolExecutor):
    """Starts its processes with Ctrl-C held back: none shows a traceback while it imports."""

    def submit(self, work: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        held_before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(work, *args, **options)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held_before)


def _end_with_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = multiprocessing.parent_process()
    if parent is None or os.getppid() != parent.pid:  # it died before the line above
        os._exit(1)


def _submit(work: Callable[[Entry], T], entry: Entry, pool: Executor) -> Future[T]:
    try:
        return pool.submit(work, entry)
    except BrokenExecutor as error:  # has its turn after the entries before it
        refused: Future[T] = Future()
        refused.set_exception(error)
        return refused


def _result(entry: Entry, future: Future[T]) -> T:
    try:
        return future.result()
    except BrokenExecutor:
        raise InfrastructureError(
            f"{entry.place}: a worker process died at this line or soon after it; check free "
            "memory, take fewer --workers, and run again"
        ) from None
    except InfrastructureError as error:
        raise type(error)(f"{entry.place}: {error}") from error
