"""What urllib3 lacks for requests to a server of models.

Its time limits start again with every byte, it reads a response of any size, and closing its pools
does not wake the threads that wait for a response. `HttpClient` adds a limit on the time and size
of a whole response, and a `close` that ends the requests under way.
"""

import contextlib
import http.client
import io
import socket
import ssl
import threading
import time
import urllib.request
import weakref
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TimedOut

from pddlego_local.core.errors import ConfigError

CONNECT_S = 30.0
MOST_BYTES = 64 << 20
"""The limit on a response with its headers; the longest answers of models take a hundredth."""
_MOST_IDLE = 1024  # connections that are kept


class Excessive(Exception):
    """A response took longer or was larger than the limit; the text says which."""


class Lost(Exception):
    """There was no response, or only its beginning; the text says why."""


class HttpClient:
    """A client of one server for many threads.

    A request has `timeout_s` from when it was sent until the last byte of its response. `close`
    makes every request under way fail in its thread, and every later one.

    Closing a socket does not wake the thread that reads from it, and that thread might then read
    from whatever gets its number next. So `close` shuts the sockets down, and the threads that use
    them close them.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, proxies: bool, timeout_s: float
    ) -> None:
        """`proxies`: use those of the environment, as `urllib.request` reads them.

        Raises ConfigError for a proxy that cannot be used.
        """
        at = urlsplit(f"{url.rstrip('/')}/")
        place = at.netloc.rpartition("@")[2]
        self._url = at._replace(netloc=place).geturl()
        self._timeout_s = timeout_s
        self._pools = _pools(
            _proxy_for(at.scheme, place) if proxies else "",
            headers={"Accept-Encoding": "identity", **headers},
            timeout=urllib3.Timeout(connect=CONNECT_S, read=timeout_s),
            maxsize=_MOST_IDLE,
            ssl_context=ssl.create_default_context(),
        )
        kinds = self._pools.pool_classes_by_scheme
        self._pools.pool_classes_by_scheme = {
            scheme: self._limited(kind) for scheme, kind in kinds.items()
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
                f"did not end its answer within {self._timeout_s:g} s; raise "
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

    def _limited(self, pool: Any) -> Any:
        """A class of pools whose connections tell of their sockets and read within the limits."""
        opened = self._opened

        class Connection(pool.ConnectionCls):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                opened(self.sock)

            def response_class(self, sock: Any, **settings: Any) -> http.client.HTTPResponse:
                limited: Any = _Limited(sock, time.monotonic() + self.timeout)
                return http.client.HTTPResponse(limited, **settings)

        return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


class _Limited(io.RawIOBase):
    """Reads a response from a socket, until a time and no more than MOST_BYTES."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock, self._until, self._read = sock, until, 0
        self._raw = sock.makefile("rb", buffering=0)  # http.client may close the socket before

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if (seconds := self._until - time.monotonic()) <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(seconds)
        number = self._raw.readinto(buffer) or 0
        self._read += number
        if self._read > MOST_BYTES:
            raise Excessive(f"answered with more than {MOST_BYTES >> 20} MiB")
        return number

    def close(self) -> None:
        self._raw.close()
        super().close()


def _proxy_for(scheme: str, place: str) -> str:
    direct = urllib.request.proxy_bypass(place)
    return "" if direct else urllib.request.getproxies().get(scheme, "")


def _pools(proxy: str, **settings: Any) -> urllib3.PoolManager:
    if not proxy:
        return urllib3.PoolManager(**settings)
    try:
        at = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        user = f"{unquote(at.username)}:{unquote(at.password or '')}" if at.username else None
        known = urllib3.make_headers(proxy_basic_auth=user)
        return urllib3.ProxyManager(at.geturl(), proxy_headers=known, **settings)
    except (HTTPError, ValueError) as error:  # whose text may hold the password
        raise ConfigError(
            "The proxy that the environment sets (http_proxy, https_proxy) is not an http:// or "
            "https:// address; correct it, or name the server's host in no_proxy."
        ) from error


def _shut_down(one: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already, or by the other side
        one.shutdown(socket.SHUT_RDWR)
