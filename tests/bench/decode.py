"""Tokens per second of each rung on the vLLM CPU engine with the random model.

Random weights are the worst case for a grammar: the model costs next to nothing, so that the masks
show, and its text is as varied as the grammar permits.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pddlego_local.core import Grammar, Message, Prompt, Sampling
from pddlego_local.decoding.rungs import grammar_for
from pddlego_local.models.random import RandomVllmModel
from pddlego_local.models.vllm import Server, VllmModel

RUNGS = ("free", "json", "syntax")
_PROMPT = Prompt((Message("user", "Write the PDDL domain and problem of this house."),))
_ANSWER_TOKENS = 256


def decode_bench(tokens_per_cell: int = 4096) -> list[dict[str, object]]:
    """One row per concurrency (1, 8, 32) and rung: tokens drawn, tokens per second, over `free`.

    Each cell draws at least `tokens_per_cell` tokens, in answers of 256 at most, counted by the
    server. The serving environment is PDDLEGO_SERVING_ENV, else .venv-serving.
    """
    server = Server(
        env=Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving")),
        device="cpu",
        kv_cache_gib=1,
        start_timeout_s=300,
        variables={"OMP_NUM_THREADS": "1"},
    )
    model = RandomVllmModel(dtype="float32", context_tokens=4096, server=server)
    try:
        grammars = {rung: grammar_for(rung) for rung in RUNGS}
        for grammar in grammars.values():  # the first request of a kind compiles
            model.complete(_PROMPT, grammar, Sampling(max_tokens=16))
        return [
            row
            for concurrency in (1, 8, 32)
            for row in _rows(model, grammars, concurrency, tokens_per_cell)
        ]
    finally:
        model.close()


def _rows(
    model: VllmModel,
    grammars: dict[str, Grammar | None],
    concurrency: int,
    tokens_per_cell: int,
) -> list[dict[str, object]]:
    rates: dict[str, float] = {}
    rows: list[dict[str, object]] = []
    for rung, grammar in grammars.items():
        tokens, wall_time_s = _draw(model, grammar, concurrency, tokens_per_cell)
        rates[rung] = tokens / wall_time_s
        rows.append(
            {
                "at once": concurrency,
                "rung": rung,
                "tokens": tokens,
                "tokens per s": round(rates[rung]),
                "over free": round(rates[rung] / rates["free"], 2),
            }
        )
    return rows


def _draw(
    model: VllmModel, grammar: Grammar | None, concurrency: int, least_tokens: int
) -> tuple[int, float]:
    """Keeps `concurrency` requests under way until enough tokens are drawn: (tokens, seconds)."""
    share = -(-least_tokens // concurrency)

    def one_thread(thread: int) -> int:
        drawn = 0
        seed = 1000 * thread
        while drawn < share:
            limit = min(_ANSWER_TOKENS, share - drawn)
            sampling = Sampling(max_tokens=limit, seed=seed)
            drawn += model.complete(_PROMPT, grammar, sampling).completion_tokens
            seed += 1
        return drawn

    began = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        tokens = sum(pool.map(one_thread, range(concurrency)))
    return tokens, time.perf_counter() - began
