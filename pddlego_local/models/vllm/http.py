"""An HTTP client based on urllib3, with limits of time and size; `close` aborts its
requests.

urllib3 limits only the silence between two pieces of a response, and takes as much
memory as a server announces. It also has no method that wakes the threads that wait for
a response: closing its pools does not.
"""

import contextlib
import http.client
import io
import re
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TimedOut

CONNECT_S = 30.0
MOST_BYTES = 1 << 20
_MOST_IDLE = 1024  # connections that are kept
_PIECE_BYTES = 1 << 16
_CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]+(?=\s*(;|$))")


class Excessive(Exception):
    """A response took too long or was too large; the text says which limit was
    exceeded.
    """


class Lost(Exception):
    """There was no response, or an incomplete one; the text says why."""


class HttpClient:
    """A client of one server for many threads.

    A request fails if its response is not complete after `timeout_s` seconds, or is too
    large. `close` makes every request under way fail in its thread, and every later
    one. Proxies in environment variables are ignored.

    Closing a socket does not wake the thread that reads from it, and that thread might
    then read from another file that was given the same descriptor. So `close` only
    shuts the sockets down, and the threads that use the sockets close them.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, timeout_s: float
    ) -> None:
        at = urlsplit(f"{url.rstrip('/')}/")
        self._url = at._replace(netloc=at.netloc.rpartition("@")[2]).geturl()
        self._timeout_s = timeout_s
        self._limits = _OfThread()
        self._connect_s = min(CONNECT_S, timeout_s)
        self._pools = urllib3.PoolManager(
            headers={"Accept-Encoding": "identity", **headers},
            timeout=urllib3.Timeout(connect=self._connect_s, read=timeout_s),
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
        most_bytes: int = MOST_BYTES,
    ) -> tuple[int, bytes]:
        """Returns the response's status and body; `path` is relative to the client's
        address.

        If `enough` is given, a successful response is read line by line. `enough` is
        called with each line, and the request ends once it returns True; the returned
        body is then empty. Raises Excessive or Lost; a response with more than
        `most_bytes` bytes is Excessive.
        """
        if self.is_closed:
            raise Lost("it was closed")
        self._limits.now = limits = _Limits(
            time.monotonic() + self._timeout_s, most_bytes
        )
        with self._clear_errors():
            response = self._pools.urlopen(
                method,
                urljoin(self._url, path),
                body=body,
                # a decompressed response may be a thousand times as large
                decode_content=False,
                redirect=False,
                retries=False,
                preload_content=False,
            )
            # This also closes the socket of an unfinished response.
            with contextlib.closing(response):
                limits.check_size(response.length_remaining or 0)
                pieces = response.stream(_PIECE_BYTES, decode_content=False)
                if enough is None or response.status >= 300:
                    return response.status, b"".join(pieces)
                for line in _lines(pieces):
                    if enough(line):
                        break
                return response.status, b""

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Raises Excessive or Lost for what urllib3 and the system raise."""
        try:
            yield
        except NewConnectionError as error:  # also a ConnectTimeoutError
            raise Lost(str(error)) from error
        except ConnectTimeoutError as error:
            raise Excessive(f"was not reached within {self._connect_s:g} s") from error
        except TimedOut as error:
            raise Excessive(
                f"did not finish its response within {self._timeout_s:g} s; raise "
                "model.server.request_timeout_s if it only needs more time"
            ) from error
        except (HTTPError, OSError, ValueError) as error:
            raise Lost(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Makes requests under way and all later ones fail. May be called several
        times.
        """
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
        """Returns a subclass of `pool` whose connections register their sockets, and
        whose responses have the limits of the request that their thread makes.
        """
        register, limits = self._register, self._limits

        class Connection(pool.ConnectionCls):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                register(self.sock)

            def response_class(
                self, sock: socket.socket, **given: Any
            ) -> http.client.HTTPResponse:
                return http.client.HTTPResponse(_Limited(sock, limits.now), **given)  # type: ignore[arg-type]

        return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


class _Limits:
    """The time and the number of bytes that are left for one response. `until_s` is a
    moment of `time.monotonic`.
    """

    def __init__(self, until_s: float, most_bytes: int) -> None:
        self._until_s, self._most_bytes = until_s, most_bytes
        self._received = 0

    def seconds_left(self) -> float:
        """Raises TimeoutError if there are none."""
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s

    def check_size(self, announced: int) -> None:
        """Raises Excessive if the server announces more bytes than the response may
        have.
        """
        if announced > self._most_bytes:
            raise Excessive(
                f"announced more than {self._most_bytes:,} bytes, which no response to"
                " this request has"
            )

    def count(self, received: int) -> None:
        """Raises Excessive if the response has become too large."""
        self._received += received
        if self._received > self._most_bytes:
            raise Excessive(
                f"sent more than {self._most_bytes:,} bytes, which no response to this"
                " request has"
            )


class _OfThread(threading.local):
    """The limits of the request that this thread makes."""

    now = _Limits(0, 0)


class _Limited:
    """Stands for a socket in http.client, which only asks it for a file to read
    from.
    """

    def __init__(self, sock: socket.socket, limits: _Limits) -> None:
        self._sock, self._limits = sock, limits

    def makefile(self, mode: str) -> "_File":
        return _File(_Received(self._sock, self._limits), self._limits)


class _Received(io.RawIOBase):
    """The bytes of a socket, within the limits of one response."""

    def __init__(self, sock: socket.socket, limits: _Limits) -> None:
        self._sock, self._limits = sock, limits
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._limits.seconds_left())
        received = self._raw.readinto(buffer)
        self._limits.count(received or 0)
        return received

    def close(self) -> None:
        self._raw.close()
        super().close()


class _File(io.BufferedReader):
    """The file from which http.client reads a response."""

    def __init__(self, raw: _Received, limits: _Limits) -> None:
        super().__init__(raw)
        self._limits = limits

    def readline(self, size: int | None = -1, /) -> bytes:
        """Reads a line of the head, or the line before a chunk, which announces its
        size: one that no response can have would otherwise be waited for.
        """
        line = super().readline(size)
        if announced := _CHUNK_SIZE.match(line):
            self._limits.check_size(int(announced[0], 16))
        return line


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the lines of a response as they come; urllib3's own iterator would
    decompress it.
    """
    begun = b""
    for piece in pieces:
        *lines, begun = (begun + piece).split(b"\n")
        yield from lines
    yield begun


def _shut_down(sock: socket.socket) -> None:
    # It may be closed already, perhaps by the other side.
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
