"""Records what `python -m tools.gpu_check.quick` sends: the requests of `nano`'s twelve
answers, two on each rung, with the texts that a server on the CPU gives.

    python -m tools.gpu_check.quick.record

It needs the project with its games and a serving environment of the CPU build, and
takes two minutes. It is run again when prompts, grammars or `nano` change.
"""

import contextlib
import json
import lzma
import os
import tempfile
from typing import Any
from unittest.mock import patch

import pddlego_local
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.models.vllm.connection import Connection
from pddlego_local.runner.config import compose_cell
from tools.gpu_check.quick.recorded import FILE

CELL = "pddlego_local.runner.cell"


def main() -> None:
    env = os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving")
    rows: list[dict[str, Any]] = []
    model: Any = compose_cell(["model=nano_vllm", f"model.server.env={env}"]).build(
        "model"
    )
    with contextlib.closing(model):
        server = model.start().connection._server
        for rung in RUNGS:
            requests = _requests(rung, server.url, server.api_key)
            rows += [
                {"rung": rung, "place": place, **request}
                for place, request in enumerate(requests)
            ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    FILE.write_bytes(lzma.compress(lines.encode(), preset=9))
    print(f"{len(rows)} requests, {FILE.stat().st_size:,} bytes: {FILE}")


def _requests(rung: str, url: str, key: str) -> list[dict[str, Any]]:
    """Plays one game greedily and returns its requests with the server's texts."""
    found: list[dict[str, Any]] = []
    post = Connection._post

    def recorded(self: Any, path: str, body: dict[str, Any], *given: Any) -> Any:
        response: Any = post(self, path, body, *given)
        if choices := getattr(response, "choices", None):
            body = {key: body[key] for key in body if not key.startswith("stream")}
            found.append({"path": path, "body": body, "text": choices[0].said})
        return response

    with (
        tempfile.TemporaryDirectory() as out,
        patch.object(Connection, "_post", recorded),
        patch(f"{CELL}.check_obedience"),  # the canary's requests are no answers
    ):
        pddlego_local.run(
            model="nano_vllm",
            model__server__url=url,
            model__server__api_key=key,
            decoding=rung,
            decoding__temperature=0,
            decoding__max_tokens=1024,
            method__variant="compact",
            environment__rooms=5,
            games="3",
            run__out=out,
        )
    return found


if __name__ == "__main__":
    main()
