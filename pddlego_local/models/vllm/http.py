"""The HTTP client of many threads: whoever closes it ends the requests that are under way, and none
takes longer, or brings more, than it may.

The client library (httpx, below `openai`) has neither for threads: its time limits begin again with
every byte, and its `close` wakes nobody. Its asyncio side has both, but one thread would then do
the work of all requests, in competition with hundreds of episodes for Python's one lock.
"""

import contextlib
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import openai

CONNECT_S = 30.0
MOST_BYTES = 64 << 20
"""Of one response: an answer with the tokens of a prompt of a million tokens takes 8 MiB."""


class Excessive(Exception):
    """A response that takes longer, or brings more, than it may; the text says which."""


class HttpClient(openai.DefaultHttpxClient):
    """`close` lets every request under way fail in its thread, and every later one.

    Closing a socket does not wake the thread that waits for it, which might then wait for whatever
    gets its number next. So sockets are shut down first, and closed when no thread is left.
    A request has `timeout_s` from its begin to the last byte of its response.
    """

    def __init__(self, *, proxies: bool, timeout_s: float) -> None:
        super().__init__(
            trust_env=proxies,
            # What is packed may be a thousand times as much when it is unpacked.
            headers={"Accept-Encoding": "identity"},
            timeout=openai.Timeout(timeout_s, connect=CONNECT_S),
        )
        self.event_hooks["response"].append(_refuse_packed)
        self._timeout_s = timeout_s
        self._changing = threading.Lock()
        self._sockets = weakref.WeakSet[socket.socket]()
        self._under_way = 0
        self._ended = False
        self._of_thread = threading.local()

    @property
    def is_closed(self) -> bool:
        return self._ended

    def send(self, request: Any, **settings: Any) -> Any:
        """Raises openai.APITimeoutError, or openai.APIConnectionError where no response comes: once
        it is closed, for what is Excessive and for httpx's errors, which are then its cause."""
        with self._changing:
            if self._ended:
                raise openai.APIConnectionError(message="It was closed.", request=request)
            self._under_way += 1
        request.extensions = {**request.extensions, "trace": self._note}
        self._of_thread.until, self._of_thread.read = time.monotonic() + self._timeout_s, 0
        try:
            return super().send(request, **settings)
        except Excessive as error:
            raise openai.APIConnectionError(message=str(error), request=request) from error
        except Exception as error:  # of httpx, or its heir
            late = "TimeoutException" in (kind.__name__ for kind in type(error).__mro__)
            kind = openai.APITimeoutError if late else openai.APIConnectionError
            raise kind(request=request) from error
        finally:
            with self._changing:
                self._under_way -= 1
            self._close_if_unused()

    def close(self) -> None:
        with self._changing:
            self._ended = True
            for one in self._sockets:
                _shut_down(one)
        self._close_if_unused()

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        """Of httpcore: what a request does. TLS makes another socket of the one below it."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            stream = info["return_value"]
            stream.read = self._bounded(stream.read)
            stream.write = self._bounded(stream.write)
            with self._changing:
                opened = stream.get_extra_info("socket")
                self._sockets.add(opened)
                if self._ended:
                    _shut_down(opened)

    def _bounded(self, transfer: Callable[[Any, float | None], Any]) -> Callable[..., Any]:
        """`read` or `write` of a stream, by the thread whose request it is."""

        def within_bounds(what: Any, timeout: float | None = None) -> Any:
            mine = self._of_thread
            left = mine.until - time.monotonic()
            if left <= 0:
                raise Excessive(
                    f"did not end its answer within {self._timeout_s:g} s; raise "
                    "model.server.request_timeout_s if it only needs longer"
                )
            done = transfer(what, left if timeout is None else min(left, timeout))
            mine.read += len(done or b"")
            if mine.read > MOST_BYTES:
                raise Excessive(f"answered with more than {MOST_BYTES >> 20} MiB")
            return done

        return within_bounds

    def _close_if_unused(self) -> None:
        with self._changing:
            unused = self._ended and not self._under_way
        if unused:
            super().close()


def excess(error: BaseException | None) -> Excessive | None:
    """What was excessive, if that is why a request failed."""
    while error is not None and not isinstance(error, Excessive):
        error = error.__cause__
    return error


def _refuse_packed(response: Any) -> None:
    packed = response.headers.get("content-encoding", "identity")
    if packed.lower() != "identity":
        raise Excessive(f"answered in the encoding {packed[:40]!r}, which it was not asked for")


def _shut_down(one: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already, or by the other side
        one.shutdown(socket.SHUT_RDWR)
