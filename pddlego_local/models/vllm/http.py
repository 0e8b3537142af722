"""The HTTP client of many threads: whoever closes it ends the requests that are under way."""

import contextlib
import socket
import threading
import weakref
from collections.abc import Mapping
from typing import Any

import openai


class HttpClient(openai.DefaultHttpxClient):
    """`close` lets every request under way fail in its thread, and every later one.

    Closing a socket does not wake the thread that waits for it, which might then wait for whatever
    gets its number next. So sockets are shut down first, and closed when no thread is left.
    """

    def __init__(self, *, proxies: bool) -> None:
        super().__init__(trust_env=proxies)
        self._changing = threading.Lock()
        self._sockets = weakref.WeakSet[socket.socket]()
        self._under_way = 0
        self._ended = False

    @property
    def is_closed(self) -> bool:
        return self._ended

    def send(self, request: Any, **settings: Any) -> Any:
        """Raises openai.APIConnectionError once it is closed, and else as httpx does."""
        with self._changing:
            if self._ended:
                raise openai.APIConnectionError(message="It was closed.", request=request)
            self._under_way += 1
        request.extensions = {**request.extensions, "trace": self._note}
        try:
            return super().send(request, **settings)
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

    def _note(self, event: str, told: Mapping[str, Any]) -> None:
        """Of httpcore: what a request does. TLS makes another socket of the one below it."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            with self._changing:
                opened = told["return_value"].get_extra_info("socket")
                self._sockets.add(opened)
                if self._ended:
                    _shut_down(opened)

    def _close_if_unused(self) -> None:
        with self._changing:
            unused = self._ended and not self._under_way
        if unused:
            super().close()


def _shut_down(one: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already, or by the other side
        one.shutdown(socket.SHUT_RDWR)
