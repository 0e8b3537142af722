"""A server in this process that answers rightly, and now and then as no server
should.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.models.quiet_server import QuietHandler, serving
from tools.chaos.simulated import key_of

Reply = Callable[[QuietHandler], None]


def good(text: str, **changes: object) -> dict[str, Any]:
    """A response as vLLM gives it, except for `changes`."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        **changes,
    }


def choice(**changes: object) -> dict[str, Any]:
    """One whose only choice is another."""
    (usual,) = good("fine")["choices"]
    return good("fine", choices=[usual | changes])


def body(what: object, status: int = 200, **headers: str) -> Reply:
    """Bytes as they are, everything else as JSON."""
    data = what if isinstance(what, bytes) else json.dumps(what).encode()
    return lambda handler: handler.answer(data, status, **headers)


def trickle(each: bytes, pause_s: float, begin: bytes = b"") -> Reply:
    """Never ends."""

    def reply(handler: QuietHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(
            begin or b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        )
        with contextlib.suppress(OSError):
            while True:
                handler.wfile.write(each)
                time.sleep(pause_s)

    return reply


@contextlib.contextmanager
def hostile_server(
    answers: Mapping[str, str] | None = None,
    chat: Callable[[int], Reply | None] = lambda number: None,
    version: Reply | None = None,
    spells: Callable[[str, Any], Any] | None = None,
) -> Iterator[str]:
    """Its address. `answers` are its good ones, as those of `simulated`, "fine" to all
    if None; `chat` tells of the n-th request whether the reply is to be another.
    `spells` are its replies to other requests, by path and body; None: it knows no
    others.
    """
    count, lock = 0, threading.Lock()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            (version or body({"version": "simulated"}))(self)

        def do_POST(self) -> None:
            nonlocal count
            request = json.loads(self.asked())
            if not self.path.endswith("/chat/completions"):
                reply = body({}, 404)
                if spells:
                    reply = body(spells(self.path, request))
                reply(self)
                return
            with lock:
                count += 1
                number = count
            text = "fine"
            if answers is not None:
                text = answers[key_of(request["messages"])]
            usual = body(good(text, model=request["model"]))
            reply = chat(number) or usual
            reply(self)

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}/v1"
