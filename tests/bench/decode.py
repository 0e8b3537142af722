"""Tokens per second of each rung on the vLLM CPU engine with the random model.

Random weights are the worst case for a grammar: the model costs next to nothing, so that the masks
show, and its text is as varied as the grammar permits.
"""

import os
import statistics
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
_TURNS = 3


def decode_bench(tokens_per_cell: int = 12_288) -> list[dict[str, object]]:
    """One row per concurrency (1, 8, 32) and rung: tokens per second (median of three turns).

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
    """The rungs take turns, after a round that does not count: a batch size's first use is slow."""
    rates: dict[str, list[float]] = {rung: [] for rung in grammars}
    for turn in range(_TURNS + 1):
        for rung, grammar in grammars.items():
            tokens, wall_time_s = _draw(model, grammar, concurrency, tokens_per_cell // _TURNS)
            if turn:
                rates[rung].append(tokens / wall_time_s)
    medians = {rung: statistics.median(found) for rung, found in rates.items()}
    return [
        {
            "at once": concurrency,
            "rung": rung,
            "tokens per s": round(rate),
            "from": round(min(rates[rung])),
            "to": round(max(rates[rung])),
            "over free": round(rate / medians["free"], 2),
        }
        for rung, rate in medians.items()
    ]


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
