"""The key that clients of the server must send, if the server has one.

OpenEnv has no keys. Its client sends the password of its address,
`http://user:KEY@host:8000`, as HTTP's basic authentication; other clients may send
`Authorization: Bearer KEY`.
"""

import base64
import binascii
import os
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

VARIABLE = "PDDLEGO_OPENENV_KEY"
"""The environment variable with the key. It is no option, because every user of a
machine can read the command lines of others.
"""
OPEN = ("/health",)
"""Paths that need no key: a container's supervisor asks them."""

Asgi = Callable[[Any, Any, Any], Awaitable[None]]


class KeyRequired:
    """An ASGI middleware that refuses requests and connections without the key."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        key = os.environ.get(VARIABLE, "")
        is_request = scope["type"] in ("http", "websocket")
        if not key or not is_request or scope["path"] in OPEN or _has(scope, key):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send(
                {"type": "http.response.body", "body": b"the key is missing or wrong"}
            )


def _has(scope: Any, key: str) -> bool:
    """Returns whether a request was sent with the key."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            sent = _key_of(value.decode("latin-1"))
            if secrets.compare_digest(sent.encode(), key.encode()):
                return True
    return False


def _key_of(header: str) -> str:
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return value if scheme.lower() == "bearer" else ""
    try:
        return base64.b64decode(value).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
