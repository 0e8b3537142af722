"""Tokens per second of each rung on the vLLM CPU engine with the random model.

Random weights are the worst case for a grammar: the model costs next to nothing, so that the masks
show, and its text is as varied as the grammar permits. Answers are whole ones, so that each stage
of the upper rungs has its part; every answer has grammars of its own.
"""

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pddlego_local.core import Message, Names, Prompt, Sampling
from pddlego_local.decoding.draw import draw
from pddlego_local.decoding.rungs import constraint_for
from pddlego_local.decoding.stages import Constraint, Scene
from pddlego_local.environments.coin import TABLES
from pddlego_local.models.random import RandomVllmModel
from pddlego_local.models.vllm import Server, VllmModel

RUNGS = ("free", "json", "syntax", "typed", "grounded")
_PROMPT = Prompt((Message("user", "Write the PDDL domain and problem of this house."),))
_SCENE = Scene(
    TABLES.told,
    Names(
        ("kitchen", "corridor", "behind_kitchen_south", "north", "south", "east", "west"),
        goals=("corridor", "behind_kitchen_south"),
    ),
)
_ANSWER_TOKENS = 2048
_TOKENS = {1: 4_000, 8: 16_000, 32: 40_000}  # of each turn, by how many are under way
_TURNS = 2


def serve() -> VllmModel:
    """The serving environment is PDDLEGO_SERVING_ENV, else .venv-serving."""
    server = Server(
        env=Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving")),
        device="cpu",
        kv_cache_gib=1,
        start_timeout_s=300,
        variables={"OMP_NUM_THREADS": "1"},
    )
    return RandomVllmModel(dtype="float32", context_tokens=4096, server=server)


def decode_bench(model: VllmModel) -> list[dict[str, object]]:
    """One row per concurrency and rung: tokens per second (median of the turns), as counted by the
    server, and how many whole answers there were.
    """
    constraints = {rung: constraint_for(rung, scene=_SCENE) for rung in RUNGS}
    for constraint in constraints.values():  # the first request of a kind is slow
        draw(model, _PROMPT, constraint, Sampling(max_tokens=16), {})
    return [row for concurrency in _TOKENS for row in _rows(model, constraints, concurrency)]


def _rows(
    model: VllmModel, constraints: dict[str, Constraint], concurrency: int
) -> list[dict[str, object]]:
    """The rungs take turns, after a round that does not count: a batch size's first use is slow."""
    rates: dict[str, list[float]] = {rung: [] for rung in constraints}
    whole = dict.fromkeys(constraints, 0)
    for turn in range(_TURNS + 1):
        for rung, constraint in constraints.items():
            least = _TOKENS[concurrency] if turn else _TOKENS[concurrency] // 4
            tokens, answers, wall_time_s = _draw(model, constraint, concurrency, least)
            if turn:
                rates[rung].append(tokens / wall_time_s)
                whole[rung] += answers
    medians = {rung: statistics.median(found) for rung, found in rates.items()}
    return [
        {
            "at once": concurrency,
            "rung": rung,
            "tokens per s": round(rate),
            "from": round(min(rates[rung])),
            "to": round(max(rates[rung])),
            "over free": round(rate / medians["free"], 2),
            "answers": whole[rung],
        }
        for rung, rate in medians.items()
    ]


def _draw(
    model: VllmModel, constraint: Constraint, concurrency: int, least_tokens: int
) -> tuple[int, int, float]:
    """Keeps `concurrency` answers under way until enough tokens are drawn: (tokens, finished
    answers, seconds)."""
    share = -(-least_tokens // concurrency)

    def one_thread(thread: int) -> tuple[int, int]:
        drawn = finished = 0
        seed = 1000 * thread
        while drawn < share:
            sampling = Sampling(max_tokens=min(_ANSWER_TOKENS, share - drawn), seed=seed)
            completion = draw(model, _PROMPT, constraint, sampling, {})[0].completion
            drawn += completion.completion_tokens
            finished += completion.finish_reason == "stop"
            seed += 1
        return drawn, finished

    began = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        counts = list(pool.map(one_thread, range(concurrency)))
    wall_time_s = time.perf_counter() - began
    return sum(tokens for tokens, _ in counts), sum(done for _, done in counts), wall_time_s
