"""Measures the cost of a grammar at a large vocabulary: its compilation, and each
token's mask.

Masks are computed as in vLLM's guidance backend, with the slices of
serving/vllm_patches.py: a fresh matcher per answer, then one mask before every token. A
matcher computes its lexer's states when it first needs them, so the first tokens of an
answer cost most, and a grammar with many states costs more throughout.
"""

import json
import runpy
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from llguidance.torch import allocate_token_bitmask, fill_next_token_bitmask

from pddlego_local.core.errors import MissingPart
from pddlego_local.core.nouns import Grammar
from pddlego_local.core.resources import folder
from pddlego_local.decoding.grammars.lark_text import load
from pddlego_local.decoding.layout import Layout, Printer
from tools.bench.large_vocabulary import large_tokenizer
from tools.bench.solve import TASKS

_ROUNDS = 3


@dataclass(frozen=True)
class Masks:
    """The cost of one text under one grammar. The times per token are those of `tokens`
    masks.
    """

    compile_ms: float
    median_us: float
    p99_us: float
    mean_us: float
    tokens: int


def mask_bench() -> Iterator[dict[str, object]]:
    """Yields one row per task and layout, for the task's files under the rung
    `syntax`.
    """
    try:
        tokenizer = decoder_tokenizer()
    except MissingPart as absent:
        yield {"skipped": str(absent)}
        return
    for task, (domain, problem) in TASKS.items():
        answer = {"df": domain, "pf": problem}
        line = Printer("line").answer(answer)
        texts: dict[Layout, str] = {"any": json.dumps(answer), "line": line}
        for layout, text in texts.items():
            masks = mask_times(load("syntax", layout), text, tokenizer)
            yield {
                "task": task,
                "layout": layout,
                "tokens": masks.tokens,
                "compile ms": round(masks.compile_ms, 1),
                "mask us, median": round(masks.median_us),
                "99th": round(masks.p99_us),
                "mean": round(masks.mean_us),
            }


def decoder_tokenizer() -> LLTokenizer:
    """Returns the large vocabulary for llguidance, in the slices that a server of ours
    has. Raises MissingPart if the vocabulary is not installed.
    """
    plugin = runpy.run_path(str(folder("serving") / "vllm_patches.py"))
    slices = plugin["word_slices"](LLTokenizer.general_slices())
    return from_tokenizer(large_tokenizer()).with_slices(slices)


def mask_times(grammar: Grammar, text: str, tokenizer: LLTokenizer) -> Masks:
    """Compiles `grammar` and computes a mask before each token of `text`.

    For each token, the fastest of three rounds is taken, because other work of the
    machine is no cost of the grammar. Raises ValueError if the text is not in the
    grammar's language or the decoder gives up.
    """
    tokens = tokenizer.tokenize_str(text)
    rounds = [_round(grammar, tokens, tokenizer) for _ in range(_ROUNDS)]
    masks_us = sorted(
        min(times) for times in zip(*(masks for _, masks in rounds), strict=True)
    )
    return Masks(
        compile_ms=min(compile_ms for compile_ms, _ in rounds),
        median_us=statistics.median(masks_us),
        p99_us=masks_us[int(0.99 * len(masks_us))],
        mean_us=statistics.fmean(masks_us),
        tokens=len(tokens),
    )


def _round(
    grammar: Grammar, tokens: list[int], tokenizer: LLTokenizer
) -> tuple[float, list[float]]:
    """Returns (milliseconds to compile, microseconds of each mask)."""
    lark = grammar.kind == "lark"
    serialize = (
        LLMatcher.grammar_from_lark if lark else LLMatcher.grammar_from_json_schema
    )
    bitmask = allocate_token_bitmask(1, tokenizer.vocab_size)
    began = time.perf_counter()
    matcher = LLMatcher(tokenizer, serialize(grammar.text), log_level=0)
    compile_ms = 1e3 * (time.perf_counter() - began)
    masks_us = []
    for position, token in enumerate(tokens):
        began = time.perf_counter()
        fill_next_token_bitmask(matcher, bitmask)
        masks_us.append(1e6 * (time.perf_counter() - began))
        if not matcher.consume_token(token):
            fault = matcher.get_error().split("\n")[0]
            raise ValueError(f"{grammar.name!r} ends before token {position}: {fault}")
    if not matcher.is_accepting():
        raise ValueError(f"{grammar.name!r} goes on after the text.")
    return compile_ms, masks_us
