"""The HTTP client of many threads: whoever closes it ends the requests that are under way, and none
takes longer, or brings more, than it may.

Libraries have neither for threads: their time limits begin again with every byte, and their `close`
wakes nobody. A request is written here, in one piece, and `http.client` reads its response.
"""

import base64
import contextlib
import functools
import http.client
import io
import select
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

CONNECT_S = 30.0
MOST_BYTES = 64 << 20
"""Of one response: an answer with the tokens of a prompt of a million tokens takes 8 MiB."""


class Excessive(Exception):
    """A response that takes longer, or brings more, than it may; the text says which."""


class Lost(Exception):
    """No response, or only the begin of one; the text says why."""


class HttpClient:
    """`close` lets every request under way fail in its thread, and every later one.

    Closing a socket does not wake the thread that waits for it, which might then wait for whatever
    gets its number next. So sockets are shut down, and closed by the threads that have them.
    A request has `timeout_s` from its begin to the last byte of its response.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, proxies: bool, timeout_s: float
    ) -> None:
        """`proxies`: those of the environment are used, as `urllib.request` reads them."""
        at = urlsplit(url)
        place = at.netloc.rpartition("@")[2]
        told = {"Host": place, "Accept-Encoding": "identity", **headers}
        direct = not proxies or urllib.request.proxy_bypass(place)
        proxy = urlsplit("" if direct else urllib.request.getproxies().get(at.scheme, ""))
        near, known = (proxy if proxy.hostname else at), dict[str, str]()
        if proxy.username:
            user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
            known["Proxy-Authorization"] = f"Basic {base64.b64encode(user).decode()}"
        connection: Any = http.client.HTTPConnection
        if at.scheme == "https":
            connection = functools.partial(
                http.client.HTTPSConnection, context=ssl.create_default_context()
            )
        # Through a proxy, TLS goes by a tunnel, all else as requests for whole addresses.
        self._tunnel, self._place = ("", known), ""
        if near is proxy and at.scheme == "https":
            self._tunnel = place, known
        elif near is proxy:
            self._place, told = f"http://{place}", told | known
        self._connection = functools.partial(connection, near.hostname, near.port)
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        self._timeout_s = timeout_s
        self._changing = threading.Lock()
        self._idle, self._used = list[socket.socket](), set[socket.socket]()
        self.is_closed = False

    def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """The response's status and body. Raises Excessive or Lost."""
        until, sock, keep = time.monotonic() + self._timeout_s, None, False
        head = f"{method} {self._place}{path} HTTP/1.1\r\n{self._headers}"
        try:
            sock = self._idle_socket() or self._opened()
            bounded = _Bounded(sock, until)
            sock.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            response = http.client.HTTPResponse(bounded, method=method)  # type: ignore[arg-type]
            response.begin()
            _refuse_packed(response)
            said, keep = response.read(), not response.will_close
            return response.status, said
        except (Excessive, Lost):
            raise
        except TimeoutError as error:
            raise Excessive(
                f"did not end its answer within {self._timeout_s:g} s; raise "
                "model.server.request_timeout_s if it only needs longer"
            ) from error
        except Exception as error:  # of sockets, TLS and http.client, or of odd bytes in them
            raise Lost(f"{type(error).__name__}: {error}") from error
        finally:
            if sock:
                self._give_back(sock, keep)

    def close(self) -> None:
        with self._changing:
            self.is_closed = True
            for sock in self._used:
                _shut_down(sock)
            while self._idle:
                self._idle.pop().close()

    def _idle_socket(self) -> socket.socket | None:
        with self._changing:
            if self.is_closed:
                raise Lost("it was closed")
            while self._idle:
                sock, poll = self._idle.pop(), select.poll()
                poll.register(sock, select.POLLIN)
                if not poll.poll(0):
                    self._used.add(sock)
                    return sock
                sock.close()  # the server has closed it
        return None

    def _opened(self) -> socket.socket:
        connection: http.client.HTTPConnection = self._connection(timeout=CONNECT_S)
        if self._tunnel[0]:
            connection.set_tunnel(self._tunnel[0], headers=self._tunnel[1])
        try:
            connection.connect()
        except TimeoutError as error:
            raise Excessive(f"was not reached within {CONNECT_S:g} s") from error
        with self._changing:
            self._used.add(connection.sock)
            if self.is_closed:
                _shut_down(connection.sock)
        return connection.sock

    def _give_back(self, sock: socket.socket, keep: bool) -> None:
        with self._changing:
            self._used.discard(sock)
            if keep and not self.is_closed:
                self._idle.append(sock)
            else:
                sock.close()


class _Bounded(io.RawIOBase):
    """A response as it comes from a socket, in time and not too much."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock, self._until, self._read = sock, until, 0
        self._wait()

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._wait()
        number = self._sock.recv_into(buffer)
        self._read += number
        if self._read > MOST_BYTES:
            raise Excessive(f"answered with more than {MOST_BYTES >> 20} MiB")
        return number

    def _wait(self) -> None:
        if (seconds := self._until - time.monotonic()) <= 0:
            raise TimeoutError
        self._sock.settimeout(seconds)


def _refuse_packed(response: http.client.HTTPResponse) -> None:
    """What is packed may be a thousand times as much when it is unpacked."""
    packed = response.headers.get("content-encoding", "identity")
    if packed.lower() != "identity":
        raise Excessive(f"answered in the encoding {packed[:40]!r}, which it was not asked for")


def _shut_down(one: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already, or by the other side
        one.shutdown(socket.SHUT_RDWR)
