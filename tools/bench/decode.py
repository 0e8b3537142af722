"""Tokens per second of each rung on a vLLM server with a random model, and its first token.

Random weights are the worst case for a grammar: the model costs next to nothing, so that the masks
show, and its text is as varied as the grammar permits. Answers are whole ones, so that each stage
of the upper rungs has its part; every answer has grammars of its own. What a rung costs is told by
free answers of the very same lengths: a random model left to itself ends its answers early, and
a short answer costs more a token.
"""

import statistics
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pddlego_local.core.nouns import Message, Names, Sampling
from pddlego_local.decoding.forms import PDDL, PROBLEM, Fields
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import GrammarContext, Question
from pddlego_local.decoding.session import Constraint
from pddlego_local.environments.coin.game import TABLES
from pddlego_local.episode.drawing import draw
from pddlego_local.models.vllm.model import VllmModel

RUNGS = ("json", "syntax", "signatures", "typed", "grounded")
PROMPT = (Message("user", "Write the PDDL domain and problem of this house."),)
SCENE = GrammarContext(
    TABLES.schemas,
    Names(("kitchen", "corridor", "behind_kitchen_south", "north", "south", "east", "west")),
)
QUESTION: Question[Fields] = Question(PDDL, PROMPT, SCENE)
_ANSWER_TOKENS = 2048
_NAMES = (0, 10, 100, 300)
_TRIED_TOKENS = 64


def decode_rows(
    model: VllmModel, tokens: Mapping[int, int], turns: int
) -> Iterator[dict[str, object]]:
    """One row per concurrency and rung: tokens per second, the rung's and those of free answers of
    the same lengths. `tokens` are those of each turn, by how many answers are under way. The best
    turn counts: what else a machine does can only slow one.
    """
    constraints = {rung: constraint_for(rung, context=SCENE) for rung in RUNGS}
    for constraint in constraints.values():  # the first request of a kind is slow
        draw(model, QUESTION, constraint, Sampling(max_tokens=16), {})
    for concurrency, least in tokens.items():
        for rung, constraint in constraints.items():
            yield _row(model, rung, constraint, concurrency, least, turns)


def first_token_rows(model: VllmModel, turns: int) -> Iterator[dict[str, object]]:
    """Milliseconds to the first token, alone on the server: free, and under grammars that it has
    not seen, of so many names that a prompt shows; they take turns."""

    def taken_ms(names: int, salt: int) -> float:
        shown = Names(tuple(f"room{salt}x{number}" for number in range(names)))
        context = replace(SCENE, names=shown, domain=TABLES.domain)
        constraint = constraint_for("grounded", PROBLEM, context, "line") if names else None
        grammar = constraint.first_grammar if constraint else None
        asked = Sampling(max_tokens=1, seed=salt)
        return 1e3 * model.complete(PROMPT, grammar, asked).latency_s

    taken = [[taken_ms(names, turn) for names in _NAMES] for turn in range(turns + 1)]
    medians = [statistics.median(times) for times in zip(*taken[1:], strict=True)]
    for names, median in zip(_NAMES, medians, strict=True):
        yield {
            "grammar": f"objects, {names} names" if names else "free",
            "first token ms": round(median, 1),
            "over free": round(median - medians[0], 1),
        }


def tokens_in(model: VllmModel, at_once: int, seconds: float) -> int:
    """How many tokens so many free answers would have after these seconds, by a short trial."""
    lengths = [[_TRIED_TOKENS]] * at_once
    _draw_free(model, lengths)  # a batch size's first use is slow
    return round(_TRIED_TOKENS * at_once * seconds / _draw_free(model, lengths))


def _row(
    model: VllmModel,
    rung: str,
    constraint: Constraint,
    concurrency: int,
    least_tokens: int,
    turns: int,
) -> dict[str, object]:
    """After a turn that does not count: a batch size's first use is slow."""
    rates: list[float] = []
    free_rates: list[float] = []
    answers = 0
    answer_rates: list[float] = []
    for turn in range(turns + 1):
        least = least_tokens if turn else least_tokens // 4
        lengths, wall_time_s = _draw(model, constraint, concurrency, least)
        free_wall_time_s = _draw_free(model, lengths)
        if turn:
            tokens = sum(map(sum, lengths))
            rates.append(tokens / wall_time_s)
            free_rates.append(tokens / free_wall_time_s)
            answer_rates.append(sum(map(len, lengths)) / wall_time_s)
            answers += sum(map(len, lengths))
    pairs = zip(rates, free_rates, strict=True)
    return {
        "at once": concurrency,
        "rung": rung,
        "tokens per s": round(max(rates)),
        "free": round(max(free_rates)),
        "over free": round(max(rates) / max(free_rates), 2),
        "median of turns": round(statistics.median(rate / free for rate, free in pairs), 2),
        "answers": answers,
        "answers per s": round(max(answer_rates), 2),
    }


def _draw(
    model: VllmModel, constraint: Constraint, concurrency: int, least_tokens: int
) -> tuple[list[list[int]], float]:
    """Keeps `concurrency` answers under way until enough tokens are drawn: how many each answer of
    each thread has, and the seconds it took."""
    share = -(-least_tokens // concurrency)

    def one_thread(thread: int) -> list[int]:
        lengths: list[int] = []
        while (left := share - sum(lengths)) > 0:
            sampling = Sampling(max_tokens=min(_ANSWER_TOKENS, left), seed=_seed(thread, lengths))
            drawn = draw(model, QUESTION, constraint, sampling, {})[0]
            lengths.append(drawn.completion.completion_tokens)
        return lengths

    began = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        lengths = list(pool.map(one_thread, range(concurrency)))
    return lengths, time.perf_counter() - began


def _draw_free(model: VllmModel, lengths: list[list[int]]) -> float:
    """The seconds that free answers of these lengths take, drawn by as many threads."""
    client = model.start()

    def one_thread(thread: int) -> None:
        drawn: list[int] = []
        for length in lengths[thread]:
            sampling = Sampling(max_tokens=length, seed=_seed(thread, drawn))
            said = client._chat(PROMPT, None, sampling, 1, {"ignore_eos": True})
            drawn.append(said.usage.completion_tokens)
        assert drawn == lengths[thread]

    began = time.perf_counter()
    with ThreadPoolExecutor(len(lengths)) as pool:
        list(pool.map(one_thread, range(len(lengths))))
    return time.perf_counter() - began


def _seed(thread: int, drawn: list[int]) -> int:
    return 1000 * thread + len(drawn)
