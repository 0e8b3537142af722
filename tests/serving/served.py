"""How the tests start vLLM servers of their own, and ask vLLM's code.

In PDDLEGO_SERVING_ENV, else .venv-serving.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Literal

from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.server import launcher
from pddlego_local.models.vllm.settings import Server

ENV = Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving"))
CONTEXT_TOKENS = 4096
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def serving(**settings: object) -> Server:
    fast = {"kv_cache_gib": 1, "start_timeout_s": 1500, "variables": ONE_THREAD}
    return Server(env=ENV, device="cpu", **{**fast, **settings})  # type: ignore[arg-type]


def served(
    weights: Path,
    server: Server,
    thinking: Thinking | None = Thinking(),  # noqa: B008
    context_tokens: int = CONTEXT_TOKENS,
    dtype: Literal["float32", "bfloat16"] = "float32",
) -> VllmModel:
    return VllmModel(
        weights=str(weights),
        dtype=dtype,
        context_tokens=context_tokens,
        thinking=thinking,
        server=server,
    )


def told_by_vllm(script: str, given: object = None) -> Any:
    """What a script of this folder prints last, as JSON, run by the serving
    environment's Python with the plugins on its path; `given` is its input. Its errors
    fail the test.
    """
    done = subprocess.run(
        [ENV / "bin/python", Path(__file__).with_name(script)],
        input=json.dumps(given),
        env={
            **os.environ,
            "PYTHONPATH": str(launcher().parent),
            "VLLM_LOGGING_LEVEL": "ERROR",
        },
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
