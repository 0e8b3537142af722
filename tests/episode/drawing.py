"""A test model: random logits under the decoder's own masks, in process.

It draws tokens of the random Llama's vocabulary as a server would, without a forward
pass: some thousand tokens a second, so that tests can look at many whole answers.
"""

import dataclasses
import functools
import re
import time
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import llguidance.numpy
import numpy as np
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer

from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.seeds import derive_seed
from pddlego_local.models.random import cached_random_llama

PROMPT_TOKENS = 10
TASTES = (
    "",
    r".*\(.*",
    r"\W*(and|or)\W*",
    r".*(exi|for|all|ists).*",
    r"\W*(not|imply|when)\W*",
)
"""Patterns of the tokens that a model may like: those of brackets, operators or
quantifiers.
"""
_STRENGTH = 2.0


class Request(NamedTuple):
    """What a model is asked for."""

    messages: Messages
    grammar: Grammar | None
    sampling: Sampling
    prefix: Prefix | None


class RandomLogits:
    """Each token has a fixed liking, drawn once from `seed` with the standard deviation
    `spread`; each request draws from them under its grammar with `Sampling.seed`,
    temperature and limit. Tokens that match the pattern `taste` are liked more.

    Without a grammar every token is permitted; there is no thinking. A grammar's engine
    that fails is an assertion.
    """

    decodes: ClassVar[Literal[True]] = True

    def __init__(self, seed: int = 0, spread: float = 0.3, taste: str = "") -> None:
        tokens = _engine_tokens().vocab_size
        self._logits = np.random.default_rng(seed).normal(scale=spread, size=tokens)
        if taste:
            liked = [
                re.fullmatch(taste, _tokenizer().decode([t])) is not None
                for t in range(tokens)
            ]
            self._logits += _STRENGTH * np.array(liked)

    def preflight(self, *, thinking: bool = False) -> None:
        assert not thinking

    def identity(self) -> dict[str, str]:
        return {"backend": "random logits"}

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        return self.answer_to(Request(messages, grammar, sampling, prefix))

    def answer_to(self, asked: Request) -> Completion:
        """Models that say something else have another one."""
        began = time.perf_counter()
        prefix = asked.prefix
        watch = prefix.watch if prefix else None
        tokens, ended = self._draw(asked.grammar, asked.sampling, watch)
        text = str(_tokenizer().decode(tokens))
        before = prefix.continued if prefix else ""
        return Completion(
            text=text,
            finish_reason=ended,
            prompt_tokens=PROMPT_TOKENS,
            completion_tokens=len(tokens) + (ended == "stop"),
            latency_s=time.perf_counter() - began,
            prefix=Prefix(before + text),
        )

    def complete_many(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
    ) -> tuple[Completion, ...]:
        seeds = (derive_seed(sampling.seed, number) for number in range(count))
        samplings = [dataclasses.replace(sampling, seed=seed) for seed in seeds]
        return tuple(self.complete(messages, grammar, own) for own in samplings)

    def close(self) -> None: ...

    def _draw(
        self,
        grammar: Grammar | None,
        sampling: Sampling,
        watch: Callable[[str], bool] | None,
    ) -> tuple[list[int], Literal["stop", "length", "circle"]]:
        """The tokens, and what ended them."""
        rng = np.random.default_rng(sampling.seed)
        matcher = None
        if grammar:
            matcher = LLMatcher(_engine_tokens(), _for_engine(grammar), log_level=0)
        mask = llguidance.numpy.allocate_token_bitmask(1, len(self._logits))
        tokens: list[int] = []
        while len(tokens) < sampling.max_tokens:
            permitted = np.arange(len(self._logits))
            if matcher:
                assert not matcher.is_error(), matcher.get_error()
                llguidance.numpy.fill_next_token_bitmask(matcher, mask, 0)
                bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
                permitted = np.flatnonzero(bits[: len(self._logits)])
            # The largest of logits with Gumbel noise is a draw from their softmax.
            noise = sampling.temperature * rng.gumbel(size=len(permitted))
            token = int(permitted[np.argmax(self._logits[permitted] + noise)])
            if token == _tokenizer().eos_token_id:
                return tokens, "stop"
            if matcher:
                matcher.consume_token(token)
            tokens.append(token)
            if watch and watch(str(_tokenizer().decode(tokens))):
                return tokens, "circle"
        return tokens, "length"


def _for_engine(grammar: Grammar) -> str:
    if grammar.kind == "lark":
        return str(LLMatcher.grammar_from_lark(grammar.text))
    return str(LLMatcher.grammar_from_json_schema(grammar.text))


@functools.cache
def _tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(cached_random_llama(0))


@functools.cache
def _engine_tokens() -> LLTokenizer:
    return from_tokenizer(_tokenizer())
