"""Measures each rung's tokens per second and first token on a vLLM server with a random
model.

Random weights are the worst case for a grammar: the model costs next to nothing, so
that the cost of the masks is visible, and its text is as varied as the grammar permits.
Answers are complete, so that they contain each stage of the upper rungs; every answer
has its own grammars. Each rung is compared with free answers of exactly the same
lengths, because a random model without a grammar ends its answers early, and a short
answer costs more per token.
"""

import statistics
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pddlego_local.core.nouns import Message, Names, Sampling
from pddlego_local.decoding.forms import PDDL, PROBLEM
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import AnyQuestion, GrammarContext, Question
from pddlego_local.decoding.rungs import RungName
from pddlego_local.decoding.session import Constraint
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.coin.game import TABLES
from pddlego_local.episode.drawing import draw
from pddlego_local.models.vllm.model import VllmModel

RUNGS: tuple[RungName, ...] = ("json", "syntax", "signatures", "typed", "grounded")
PROMPT = (Message("user", "Write the PDDL domain and problem of this house."),)
DIRECTIONS = ("north", "south", "east", "west")
SHOWN = Names(("kitchen", "corridor", "behind_kitchen_south", *DIRECTIONS))
SCENE = GrammarContext(TABLES.schemas, SHOWN)
QUESTION: AnyQuestion = Question(PDDL, PROMPT, SCENE)
_ANSWER_TOKENS = 2048
_NAMES = (0, 10, 100, 300)
_TRIED_TOKENS = 64


def decode_rows(
    model: VllmModel, tokens: Mapping[int, int], turns: int
) -> Iterator[dict[str, object]]:
    """Yields one row per concurrency and rung.

    A row has the tokens per second of the rung and of free answers of the same lengths.
    `tokens` are the tokens per turn, by the number of simultaneous answers. The best
    turn is reported, because other work of the machine can only slow a turn.
    """
    constraints = {
        rung: constraint_for(Decoding(rung=rung, layout="any"), situation=SCENE)
        for rung in RUNGS
    }
    for constraint in constraints.values():  # the first request of a kind is slow
        draw(model, QUESTION, constraint, Sampling(max_tokens=16), {})
    for concurrency, least in tokens.items():
        for rung, constraint in constraints.items():
            yield _row(model, rung, constraint, concurrency, least, turns)


def first_token_rows(model: VllmModel, turns: int) -> Iterator[dict[str, object]]:
    """Yields the milliseconds to the first token of a single request, by number of
    names shown.

    The requests are free, or under grammars that the server has not seen; they take
    turns.
    """

    def taken_ms(names: int, salt: int) -> float:
        grammar = None
        if names:
            shown = Names(tuple(f"room{salt}x{number}" for number in range(names)))
            context = replace(SCENE, names=shown, domain=TABLES.domain)
            decoding = Decoding(rung="grounded", goal="any")
            grammar = constraint_for(decoding, PROBLEM, context).first_grammar
        asked = Sampling(max_tokens=1, seed=salt)
        return 1e3 * model.complete(PROMPT, grammar, asked).latency_s

    taken = [[taken_ms(names, turn) for names in _NAMES] for turn in range(turns + 1)]
    medians = [statistics.median(times) for times in zip(*taken[1:], strict=True)]
    for names, median in zip(_NAMES, medians, strict=True):
        yield {
            "grammar": f"objects, {names} names" if names else "free",
            "first token ms": round(median, 1),
            "more than free": round(median - medians[0], 1),
        }


def tokens_in(model: VllmModel, at_once: int, seconds: float) -> int:
    """Estimates by a short trial how many tokens simultaneous free answers have after
    `seconds`.
    """
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
    """Measures one rung, after a warm-up turn: the first use of a batch size is
    slow.
    """
    warm_up, _ = _draw(model, constraint, concurrency, least_tokens // 4)
    _draw_free(model, warm_up)
    rates, free_rates, answer_rates = list[float](), list[float](), list[float]()
    answers = 0
    for _ in range(turns):
        lengths, wall_time_s = _draw(model, constraint, concurrency, least_tokens)
        free_wall_time_s = _draw_free(model, lengths)
        tokens = sum(sum(of_thread) for of_thread in lengths)
        drawn = sum(len(of_thread) for of_thread in lengths)
        rates.append(tokens / wall_time_s)
        free_rates.append(tokens / free_wall_time_s)
        answer_rates.append(drawn / wall_time_s)
        answers += drawn
    ratios = [rate / free for rate, free in zip(rates, free_rates, strict=True)]
    return {
        "at once": concurrency,
        "rung": rung,
        "tokens per s": round(max(rates)),
        "free": round(max(free_rates)),
        "relative to free": round(max(rates) / max(free_rates), 2),
        "median of turns": round(statistics.median(ratios), 2),
        "answers": answers,
        "answers per s": round(max(answer_rates), 2),
    }


def _draw(
    model: VllmModel, constraint: Constraint, concurrency: int, least_tokens: int
) -> tuple[list[list[int]], float]:
    """Keeps `concurrency` answers running until enough tokens are drawn. Returns the
    lengths of each thread's answers, and the seconds that this took.
    """
    share = -(-least_tokens // concurrency)

    def one_thread(thread: int) -> list[int]:
        lengths: list[int] = []
        while (left := share - sum(lengths)) > 0:
            sampling = Sampling(
                max_tokens=min(_ANSWER_TOKENS, left), seed=_seed(thread, lengths)
            )
            drawn = draw(model, QUESTION, constraint, sampling, {})[0]
            lengths.append(drawn.completion.completion_tokens)
        return lengths

    began = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        lengths = list(pool.map(one_thread, range(concurrency)))
    return lengths, time.perf_counter() - began


def _draw_free(model: VllmModel, lengths: list[list[int]]) -> float:
    """Returns the seconds that free answers of these lengths take in as many
    threads.
    """
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
