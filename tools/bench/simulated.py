"""A server that speaks vLLM's part of the API and takes a GPU's time: for benchmarks.

    python -m tools.bench.simulated ANSWERS --slots 64

ANSWERS is a JSON object of the answer to each conversation (`key_of`). A request takes one of the
slots for `FIRST_TOKEN_S`, and `TOKEN_S` for each token of its answer; a token is four letters. With
--faster N it takes an N-th of that. It obeys no grammar. GET /v1/held says from when to when each
slot was held, in seconds.
"""

import argparse
import hashlib
import json
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FIRST_TOKEN_S = 0.3
TOKEN_S = 0.02


def key_of(messages: Sequence[Mapping[str, str]]) -> str:
    told = [[message["role"], message["content"]] for message in messages]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


class Slots:
    """What the server's threads share."""

    def __init__(self, answers: Mapping[str, str], slots: int, faster: float = 1) -> None:
        self.answers = answers
        self.faster = faster
        self.free = threading.BoundedSemaphore(slots)
        self.held: list[tuple[float, float]] = []

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        text = self.answers[key_of(request["messages"])]
        tokens = len(text) // 4 + 1
        with self.free:
            began = time.monotonic()
            time.sleep((FIRST_TOKEN_S + TOKEN_S * tokens) / self.faster)
            self.held.append((began, time.monotonic()))
        message = {"role": "assistant", "content": text}
        return {
            "id": "simulated",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": tokens, "total_tokens": tokens + 1},
        }


def serve(slots: Slots) -> None:
    """Prints its port, and serves until it is killed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(slots.held if self.path.endswith("/held") else {"version": "simulated"})

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = self.rfile.read(length)
            if not self.path.endswith("/chat/completions"):
                self._send({"detail": "Not Found"}, 404)
            elif len(body) == length:
                self._send(slots.answer(json.loads(body)))

        def _send(self, what: object, status: int = 200) -> None:
            body = json.dumps(what).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), ConnectionError):  # a client that is gone
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--faster", type=float, default=1)
    given = parser.parse_args()
    serve(Slots(json.loads(given.answers.read_text()), given.slots, given.faster))


if __name__ == "__main__":
    main()
