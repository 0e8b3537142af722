"""What urllib3 lacks for requests to a server of models: a `close` that ends those under way.

Closing its pools does not wake the threads that wait for a response.
"""

import contextlib
import socket
import ssl
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TimedOut

CONNECT_S = 30.0
_MOST_IDLE = 1024  # connections that are kept


class Excessive(Exception):
    """There was no answer in time; the text says what for."""


class Lost(Exception):
    """There was no response, or only its beginning; the text says why."""


class HttpClient:
    """A client of one server for many threads.

    A request fails where nothing came for `timeout_s`. `close` makes every request under way fail
    in its thread, and every later one. No proxy of the environment is used.

    Closing a socket does not wake the thread that reads from it, and that thread might then read
    from whatever gets its number next. So `close` shuts the sockets down, and the threads that use
    them close them.
    """

    def __init__(self, url: str, headers: Mapping[str, str], *, timeout_s: float) -> None:
        at = urlsplit(f"{url.rstrip('/')}/")
        self._url = at._replace(netloc=at.netloc.rpartition("@")[2]).geturl()
        self._timeout_s = timeout_s
        self._pools = urllib3.PoolManager(
            headers={"Accept-Encoding": "identity", **headers},
            timeout=urllib3.Timeout(connect=CONNECT_S, read=timeout_s),
            maxsize=_MOST_IDLE,
            ssl_context=ssl.create_default_context(),
        )
        kinds = self._pools.pool_classes_by_scheme
        self._pools.pool_classes_by_scheme = {
            scheme: self._telling(kind) for scheme, kind in kinds.items()
        }
        self._changing = threading.Lock()
        self._sockets = weakref.WeakSet[socket.socket]()
        self.is_closed = False

    def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        enough: Callable[[bytes], bool] | None = None,
    ) -> tuple[int, bytes]:
        """Returns the response's status and body; `path` is relative to the client's address.

        A response that succeeds is read line by line where there is `enough`, which is called with
        each line: once it is True the request ends. Then there is no body to return. Raises
        Excessive or Lost.
        """
        if self.is_closed:
            raise Lost("it was closed")
        try:
            response = self._pools.urlopen(
                method,
                urljoin(self._url, path),
                body=body,
                decode_content=False,  # unpacked, it may be a thousand times as large
                redirect=False,
                retries=False,
                preload_content=enough is None,
            )
            if enough is None or response.status >= 300:
                return response.status, response.data
            with contextlib.closing(response):  # if it was not read to its end, its socket too
                any(map(enough, response))
            return response.status, b""
        except NewConnectionError as error:  # also a ConnectTimeoutError
            raise Lost(str(error)) from error
        except ConnectTimeoutError as error:
            raise Excessive(f"was not reached within {CONNECT_S:g} s") from error
        except TimedOut as error:
            raise Excessive(
                f"said nothing for {self._timeout_s:g} s; raise "
                "model.server.request_timeout_s if it only needs longer"
            ) from error
        except (HTTPError, OSError, ValueError) as error:
            raise Lost(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Makes the requests under way fail. Any number of times."""
        with self._changing:
            self.is_closed = True
            for sock in self._sockets:
                _shut_down(sock)
        self._pools.clear()

    def _opened(self, sock: socket.socket) -> None:
        with self._changing:
            self._sockets.add(sock)
            if self.is_closed:
                _shut_down(sock)

    def _telling(self, pool: Any) -> Any:
        """A class of pools whose connections tell of their sockets."""
        opened = self._opened

        class Connection(pool.ConnectionCls):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                opened(self.sock)

        return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


def _shut_down(one: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already, or by the other side
        one.shutdown(socket.SHUT_RDWR)
