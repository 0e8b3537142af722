"""The recorded requests of `nano`'s answers, and the texts that a CPU gives
(record.py).
"""

import json
import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("nano.jsonl.xz")


class Request(NamedTuple):
    """One request of an answer on a rung; an answer in stages has several.

    `place` counts the requests of the rung's game, and `text` is what a server on the
    CPU answers.
    """

    rung: str
    place: int
    path: str
    body: dict[str, Any]
    text: str


def recorded() -> list[Request]:
    lines = lzma.decompress(FILE.read_bytes()).decode().splitlines()
    return [Request(**json.loads(line)) for line in lines]


def answers(requests: Sequence[Request]) -> list[list[Request]]:
    """Divides requests into answers. An answer in stages is a row of requests, of which
    each continues the prompt of the one before.
    """
    found: list[list[Request]] = []
    for request in requests:
        if not found or not _continues(found[-1][-1], request):
            found.append([])
        found[-1].append(request)
    return found


def _continues(before: Request, request: Request) -> bool:
    if request.path == "chat/completions" or request.rung != before.rung:
        return False
    if before.path == "chat/completions":  # it has no tokens to compare
        return True
    # The last tokens of a prompt may be divided in another way by the next one.
    shared = before.body["prompt"][:-8]
    return bool(request.body["prompt"][: len(shared)] == shared)
