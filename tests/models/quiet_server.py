"""Servers in this process for the tests of clients."""

import contextlib
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietServer(ThreadingHTTPServer):
    """Its threads may outlive a test: what they end with is nobody's output."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone."""


class QuietHandler(BaseHTTPRequestHandler):
    """Reads and answers whole bodies."""

    protocol_version = "HTTP/1.1"

    def asked(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, said: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        told = {"Content-Type": "application/json", "Content-Length": str(len(said))}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(said)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


@contextlib.contextmanager
def serving(
    handler: type[QuietHandler], tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """The server's port."""
    with QuietServer(("127.0.0.1", 0), handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
