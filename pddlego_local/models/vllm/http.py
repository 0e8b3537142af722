"""An HTTP client based on urllib3, with a `close` that aborts requests under way.

urllib3 has no such method: closing its pools does not wake the threads that wait for a response.
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
    """The server did not respond in time; the text says which limit was exceeded."""


class Lost(Exception):
    """There was no response, or an incomplete one; the text says why."""


class HttpClient:
    """A client of one server for many threads.

    A request fails if no data arrives for `timeout_s` seconds. `close` makes every request under
    way fail in its thread, and every later one. Proxies in environment variables are ignored.

    Closing a socket does not wake the thread that reads from it, and that thread might then read
    from another file that was given the same descriptor. So `close` only shuts the sockets down,
    and the threads that use the sockets close them.
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
            scheme: self._registering(kind) for scheme, kind in kinds.items()
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

        If `enough` is given, a successful response is read line by line. `enough` is called with
        each line, and the request ends once it returns True; the returned body is then empty.
        Raises Excessive or Lost.
        """
        if self.is_closed:
            raise Lost("it was closed")
        try:
            response = self._pools.urlopen(
                method,
                urljoin(self._url, path),
                body=body,
                decode_content=False,  # a decompressed response may be a thousand times as large
                redirect=False,
                retries=False,
                preload_content=enough is None,
            )
            if enough is None or response.status >= 300:
                return response.status, response.data
            with contextlib.closing(response):  # also closes the socket of an unfinished response
                any(map(enough, response))
            return response.status, b""
        except NewConnectionError as error:  # also a ConnectTimeoutError
            raise Lost(str(error)) from error
        except ConnectTimeoutError as error:
            raise Excessive(f"was not reached within {CONNECT_S:g} s") from error
        except TimedOut as error:
            raise Excessive(
                f"sent nothing for {self._timeout_s:g} s; raise "
                "model.server.request_timeout_s if it only needs more time"
            ) from error
        except (HTTPError, OSError, ValueError) as error:
            raise Lost(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Makes requests under way and all later ones fail. May be called several times."""
        with self._changing:
            self.is_closed = True
            for sock in self._sockets:
                _shut_down(sock)
        self._pools.clear()

    def _register(self, sock: socket.socket) -> None:
        with self._changing:
            self._sockets.add(sock)
            if self.is_closed:
                _shut_down(sock)

    def _registering(self, pool: Any) -> Any:
        """Returns a subclass of `pool` whose connections register their sockets."""
        register = self._register

        class Connection(pool.ConnectionCls):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                register(self.sock)

        return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


def _shut_down(one: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed already, perhaps by the other side
        one.shutdown(socket.SHUT_RDWR)
