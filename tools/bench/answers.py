"""Measures answers per second of a vLLM server: `typed` relative to free answers of
equal content.

A model answers the first observations of Coin games under `typed` in the layout `line`.
Then it answers them freely. Each free answer has the length that the typed answer has
when it is written as people write it, in the layout `lines` without comments. Free
answers do not end by themselves, so that only the machine's speed varies.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, islice
from typing import Any

from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import AnyQuestion
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.drawing import draw
from pddlego_local.models.vllm.model import VllmModel
from tools.bench.played import played

MOST_TOKENS = 1500
_LEAST_ANSWERS = 8  # per turn

Answer = tuple[AnyQuestion, Sampling]


def typed(model: VllmModel, answer: Answer) -> Completion:
    question, sampling = answer
    constraint = constraint_for(Decoding(rung="typed"), PDDL, question.context)
    return draw(model, question, constraint, sampling, {})[0].completion


def free(model: VllmModel, asked: tuple[Answer, int]) -> int:
    (question, sampling), tokens = asked
    alone = Sampling(
        temperature=sampling.temperature, seed=sampling.seed, max_tokens=tokens
    )
    said = model.start()._chat(question.messages, None, alone, 1, {"ignore_eos": True})
    return int(said.usage.completion_tokens)


def freely_written(model: VllmModel, completion: Completion) -> int:
    """Returns the tokens of an answer as people would write it; a cut answer keeps its
    tokens.
    """
    if completion.finish_reason != "stop":
        return completion.completion_tokens
    text = Printer("lines").answer(json.loads(completion.text))
    return len(model.start()._tokenizer.encode(text)) + 1


def timed(
    work: Callable[[Any], Any], inputs: list[Any], at_once: int
) -> tuple[list[Any], float]:
    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(work, inputs)), time.perf_counter() - began


def turns(
    model: VllmModel, questions: list[AnyQuestion], at_once: int, number: int
) -> list[float]:
    """Returns the ratio of answers per second to free ones in each turn, after one
    warm-up turn.
    """
    found = list[float]()
    seeds = count(1)
    for turn in range(number + 1):
        answers = [
            (
                questions[seed % len(questions)],
                Sampling(temperature=0.4, max_tokens=MOST_TOKENS, seed=seed),
            )
            for seed in islice(seeds, max(_LEAST_ANSWERS, at_once))
        ]
        said, typed_s = timed(partial(typed, model), answers, at_once)
        lengths = [freely_written(model, completion) for completion in said]
        pairs = list(zip(answers, lengths, strict=True))
        drawn, free_s = timed(partial(free, model), pairs, at_once)
        assert drawn == lengths
        times = (
            f"{at_once} at once, turn {turn}: {typed_s:.0f} s typed, {free_s:.0f} s"
            " free"
        )
        print(times, file=sys.stderr, flush=True)
        if turn:
            found.append(free_s / typed_s)
    return found


def answers_bench(
    model: VllmModel, at_once: tuple[int, ...] = (1, 8, 32), number: int = 4
) -> Iterator[dict[str, object]]:
    """Yields one row per concurrency."""
    games = played("coin", range(100, 110))
    questions = [asked.question for asked in games if asked.first]
    for count_ in at_once:
        ratios = turns(model, questions, count_, number)
        yield {
            "at once": count_,
            "typed relative to free, median": f"{statistics.median(ratios):.2f}",
            "turns": f"{min(ratios):.2f} to {max(ratios):.2f}",
        }
