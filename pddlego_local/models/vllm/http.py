"""The HTTP client of many threads: whoever closes it ends the requests that are under way, and none
takes longer, or brings more, than it may.

urllib3 has neither: its time limits begin again with every byte, and its `close` wakes nobody. So
its connections read within bounds here, and their sockets are known.
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
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TimedOut

CONNECT_S = 30.0
MOST_BYTES = 64 << 20
"""Of a response with its headers: the longest answers of models have a hundredth of that."""
_MOST_IDLE = 1024  # connections that are kept


class Excessive(Exception):
    """A response that takes longer, or brings more, than it may; the text says which."""


class Lost(Exception):
    """No response, or only the begin of one; the text says why."""


class HttpClient:
    """`close` lets every request under way fail in its thread, and every later one.

    Closing a socket does not wake the thread that waits for it, which might then wait for whatever
    gets its number next. So sockets are shut down, and closed by the threads that have them.
    A request has `timeout_s` from when it was sent to the last byte of its response.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, proxies: bool, timeout_s: float
    ) -> None:
        """`proxies`: those of the environment are used, as `urllib.request` reads them."""
        at = urlsplit(url)
        self._origin = f"{at.scheme}://{at.netloc.rpartition('@')[2]}"
        self._headers = {"Accept-Encoding": "identity", **headers}
        self._timeout_s = timeout_s
        self._pools = _pools(_proxy_for(at.scheme, at.netloc) if proxies else "", timeout_s)
        self._pools.pool_classes_by_scheme = {
            "http": self._with(urllib3.HTTPConnectionPool, HTTPConnection),
            "https": self._with(urllib3.HTTPSConnectionPool, HTTPSConnection),
        }
        self._changing = threading.Lock()
        self._sockets = weakref.WeakSet[socket.socket]()
        self.is_closed = False

    def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """The response's status and body. Raises Excessive or Lost."""
        if self.is_closed:
            raise Lost("it was closed")
        try:
            response = self._pools.request(
                method,
                f"{self._origin}{path}",
                body=body,
                headers=self._headers,
                preload_content=False,
                decode_content=False,
                redirect=False,
                retries=False,
            )
            with response:
                _refuse_packed(response.headers.get("content-encoding", "identity"))
                said = response.read()
                response.release_conn()
            return response.status, said
        except NewConnectionError as error:  # a kind of the next one
            raise Lost(str(error)) from error
        except ConnectTimeoutError as error:
            raise Excessive(f"was not reached within {CONNECT_S:g} s") from error
        except TimedOut as error:
            raise Excessive(
                f"did not end its answer within {self._timeout_s:g} s; raise "
                "model.server.request_timeout_s if it only needs longer"
            ) from error
        except (HTTPError, OSError, ValueError, http.client.HTTPException) as error:
            raise Lost(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        with self._changing:
            self.is_closed = True
            for sock in self._sockets:
                _shut_down(sock)
        self._pools.clear()

    def _with(self, pool: type[Any], kind: Callable[..., Any]) -> type[Any]:
        """A kind of pool whose connections' sockets are known, and read within bounds."""

        def connection(**settings: Any) -> Any:
            made = kind(**settings)
            connect = made.connect

            def connect_and_tell() -> None:
                connect()
                with self._changing:
                    self._sockets.add(made.sock)
                    if self.is_closed:
                        _shut_down(made.sock)

            def response(sock: socket.socket, **settings: Any) -> http.client.HTTPResponse:
                bounded: Any = _Bounded(sock, time.monotonic() + made.timeout)
                return http.client.HTTPResponse(bounded, **settings)

            made.connect, made.response_class = connect_and_tell, response
            return made

        return type(pool.__name__, (pool,), {"ConnectionCls": staticmethod(connection)})


class _Bounded(io.RawIOBase):
    """A response as it comes from a socket, in time and not too much."""

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
    direct = urllib.request.proxy_bypass(place.rpartition("@")[2])
    return "" if direct else urllib.request.getproxies().get(scheme, "")


def _pools(proxy: str, timeout_s: float) -> urllib3.PoolManager:
    settings: dict[str, Any] = {
        "timeout": urllib3.Timeout(connect=CONNECT_S, read=timeout_s),
        "maxsize": _MOST_IDLE,
        "ssl_context": ssl.create_default_context(),
    }
    if not proxy:
        return urllib3.PoolManager(**settings)
    at = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    user = f"{unquote(at.username)}:{unquote(at.password or '')}" if at.username else None
    known = urllib3.make_headers(proxy_basic_auth=user)
    return urllib3.ProxyManager(at.geturl(), proxy_headers=known, **settings)


def _refuse_packed(encoding: str) -> None:
    """What is packed may be a thousand times as much when it is unpacked."""
    if encoding.lower() != "identity":
        raise Excessive(f"answered in the encoding {encoding[:40]!r}, which it was not asked for")


def _shut_down(one: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already, or by the other side
        one.shutdown(socket.SHUT_RDWR)
