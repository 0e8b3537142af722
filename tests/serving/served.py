"""How the tests start vLLM servers of their own. PDDLEGO_SERVING_ENV, else .venv-serving."""

import os
from pathlib import Path
from typing import Literal

from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
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
