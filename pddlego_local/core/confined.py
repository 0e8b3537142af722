"""Carries out requests on the texts of others in a process of their own, within limits.

A text can be so large that checking it or judging a plan for it takes hours or all
memory. So such work is done in a child process (confined_worker.py), which ends at its
limits, when nobody waits for it, and with its parent.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from pddlego_local.core import errors
from pddlego_local.core.errors import InfrastructureError, PddlegoError

WORKER = Path(__file__).with_name("confined_worker.py")
# The time that a worker may take beyond the wall limit of its request.
START_AND_REPLY_S = 30.0

Outcome = Literal["timeout", "out_of_memory"]
_LIMITS: dict[str, tuple[Outcome, str]] = {
    "cpu": ("timeout", "the limit of {cpu_s:g} seconds of CPU time was reached"),
    "wall": ("timeout", "the limit of {wall_s:g} seconds was reached"),
    "memory": ("out_of_memory", "the limit of {memory_mb:g} MiB of memory was reached"),
}

T = TypeVar("T")


class Exceeded(Exception):
    """A request needed more time or memory than its limits allow. `outcome` has the
    planner's word for it.
    """

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class Confined:
    """A process that carries out one request at a time.

    It imports `modules` once. It is started at the first request, or by `start`. Calls
    from several threads wait for each other. Use `close` at the end, or a `with` block.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = list(modules)
        self._caller = threading.Lock()
        self._changing = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self.closed = False

    def ask(self, work: Callable[..., T], *arguments: Any, **limits: float) -> T:
        """Returns `work(*arguments)`. Work is a function of a module, and its arguments
        and its result can be written as JSON.

        Limits are `cpu_s`, `wall_s` and `memory_mb`. Raises Exceeded at a limit, the
        PddlegoError that `work` raised, and InfrastructureError if the work crashed or
        `close` ended it.
        """
        request = {
            "module": work.__module__,
            "work": work.__qualname__,
            "arguments": arguments,
            "limits": limits,
        }
        with self._caller:
            reply = self._exchange(request, limits.get("wall_s"))
        if ended := reply.get("ended"):
            raise _failure(ended, limits)
        if "error" in reply:
            raise _error_named(reply["error"])(reply["words"])
        value: T = reply["value"]
        return value

    def start(self) -> socket.socket:
        """Starts the process, if it is not running. Raises InfrastructureError."""
        with self._changing:
            if self.closed:
                raise InfrastructureError("the request was ended")
            if self._socket is None:
                self._process, self._socket = _started(self._modules)
            return self._socket

    def _exchange(
        self, request: dict[str, Any], wall_s: float | None
    ) -> dict[str, Any]:
        channel = self.start()
        channel.settimeout(None if wall_s is None else wall_s + START_AND_REPLY_S)
        try:
            channel.sendall(json.dumps(request).encode() + b"\n")
            with channel.makefile("rb") as lines:
                line = lines.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            self._end()
            raise InfrastructureError(
                "the process that carried out the request has ended"
            )
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """Ends the process, also while it carries out a request. May be called several
        times.
        """
        self.closed = True
        self._end()

    def _end(self) -> None:
        with self._changing:
            process, channel = self._process, self._socket
            self._process = self._socket = None
        if process is None or channel is None:
            return
        with suppress(OSError):  # wakes a thread that waits for the reply
            channel.shutdown(socket.SHUT_RDWR)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        channel.close()

    def __enter__(self) -> "Confined":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class ConfinedPool:
    """Lends processes for requests, one to each of several threads, and keeps them for
    later ones.

    Use `close` at the end, or a `with` block.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = modules
        self._idle: list[Confined] = []
        self._lent = set[Confined]()

    def take(self) -> Confined:
        """Returns a process that carries out nothing. Give it back, or close it."""
        try:
            process = self._idle.pop()
        except IndexError:
            process = Confined(self._modules)
        self._lent.add(process)
        return process

    def give_back(self, process: Confined) -> None:
        """Keeps the process for a later request, unless it was closed."""
        self._lent.discard(process)
        if not process.closed:
            self._idle.append(process)

    def ask(self, work: Callable[..., T], *arguments: Any, **limits: float) -> T:
        """Returns and raises as `Confined.ask`."""
        process = self.take()
        try:
            return process.ask(work, *arguments, **limits)
        finally:
            self.give_back(process)

    def close(self) -> None:
        for process in (*self._idle, *self._lent):
            process.close()

    def __enter__(self) -> "ConfinedPool":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _started(modules: Sequence[str]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    settings = json.dumps({"path": sys.path, "modules": modules})
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            # In a new session, Ctrl-C reaches only this process, which then ends the
            # worker.
            process = subprocess.Popen(
                [sys.executable, "-P", WORKER, settings],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise InfrastructureError(
                f"a process for the request could not be started ({error}); free some"
                " memory or processes and try again"
            ) from error
    return process, ours


def _error_named(name: str) -> type[PddlegoError]:
    """Returns the class of this name, or its nearest base that is made of words
    alone.
    """
    kind: type[PddlegoError] = getattr(errors, name, InfrastructureError)
    while kind.__init__ is not PddlegoError.__init__:
        (kind,) = kind.__bases__
    return kind


def _failure(ended: str, limits: dict[str, float]) -> Exception:
    if ended in _LIMITS:
        outcome, words = _LIMITS[ended]
        return Exceeded(outcome, words.format_map(limits))
    return InfrastructureError(
        f"the process that carried out the request crashed ({ended})"
    )
