"""A server with vLLM's API that gives recorded answers after a simulated time.

    python -m tools.chaos.simulated ANSWERS

ANSWERS is a file with a JSON object: the answer to each conversation (`key_of`). A
request takes `FIRST_TOKEN_S`, and `TOKEN_S` for each token of its answer; a token is
four letters. The server ignores grammars.
"""

import hashlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import transcripts

FIRST_TOKEN_S, TOKEN_S = 0.015, 0.001  # a twentieth of a GPU's times


def key_of(messages: Sequence[Mapping[str, str]]) -> str:
    texts = [[message["role"], message["content"]] for message in messages]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def recorded_answers(runs: Path) -> dict[str, str]:
    """Returns the answer to each conversation in the cells at or below a folder."""
    return {
        key_of([vars(said) for said in event.messages]): event.text
        for _, events in transcripts(runs)
        for event in events
        if isinstance(event, Call)
    }


def answer(answers: Mapping[str, str], request: Mapping[str, Any]) -> dict[str, Any]:
    text = answers[key_of(request["messages"])]
    tokens = len(text) // 4 + 1
    time.sleep(FIRST_TOKEN_S + TOKEN_S * tokens)
    message = {"role": "assistant", "content": text}
    return {
        "id": "simulated",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 1,
            "completion_tokens": tokens,
            "total_tokens": tokens + 1,
        },
    }


def serve(answers: Mapping[str, str]) -> None:
    """Prints the server's port, and serves until the process is killed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({"version": "simulated"})

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = self.rfile.read(length)
            if not self.path.endswith("/chat/completions"):
                self.send_error(HTTPStatus.NOT_FOUND)
            elif len(body) == length:
                self._send(answer(answers, json.loads(body)))

        def _send(self, what: object) -> None:
            body = json.dumps(what).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Logs nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), ConnectionError):  # the client is gone
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
