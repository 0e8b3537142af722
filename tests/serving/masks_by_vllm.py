"""Run by the serving environment's Python: a step's masks as vLLM fills them, one by
one, and as serving/vllm_patches.py does. Prints how many masks there are, and which
differ, as JSON.

Requests at every place of some texts: up to the grammar's end, behind it, before the
end of a thought, and with drafts.
"""

import json
import random
from types import SimpleNamespace
from typing import Any

import llguidance.torch
import torch
from vllm.v1.structured_output import StructuredOutputManager
from vllm.v1.structured_output.backend_guidance import GuidanceGrammar
from vllm_patches import _filled_at_once

LANGUAGES = (
    (
        'start: "(define (domain " NAME ") (:requirements" ")"\nNAME: /[a-z]{1,5}/\n',
        "(define (domain house) (:requirements)",
    ),
    (
        'start: ("kitchen" | "kitchenette" | "pantry") " is closed"\n',
        "kitchenette is closed",
    ),
)
"""Grammars, and a text of each."""
REQUESTS, DRAFTS = 40, 5
TOKENIZER = llguidance.LLTokenizer("byte")


class Reasoner:
    """A thought that no token ends."""

    def __init__(self, **_: Any) -> None: ...

    def is_reasoning_end(self, _: Any) -> bool:
        return False

    def is_reasoning_end_streaming(self, *_: Any) -> bool:
        return False


def manager() -> StructuredOutputManager:
    made = object.__new__(StructuredOutputManager)
    made.vllm_config = SimpleNamespace(
        num_speculative_tokens=DRAFTS,
        scheduler_config=SimpleNamespace(max_num_seqs=REQUESTS),
        model_config=SimpleNamespace(is_diffusion=False),
    )
    size = TOKENIZER.vocab_size
    made.backend = SimpleNamespace(
        allocate_token_bitmask=lambda rows: llguidance.torch.allocate_token_bitmask(
            rows, size
        )
    )
    made._grammar_bitmask, made._full_mask = None, torch.tensor(-1, dtype=torch.int32)
    made.fill_bitmask_parallel_threshold = 128
    made.enable_in_reasoning, made.tokenizer, made.reasoner_cls = (
        False,
        TOKENIZER,
        Reasoner,
    )
    return made


def request(
    chance: random.Random, *, thoughts: bool, drafted: bool
) -> tuple[Any, list[int]]:
    lark, whole = chance.choice(LANGUAGES)
    matcher = llguidance.LLMatcher(
        TOKENIZER, llguidance.LLMatcher.grammar_from_lark(lark)
    )
    grammar = GuidanceGrammar(matcher, TOKENIZER, TOKENIZER.vocab_size)
    text = list(whole.encode())
    written = text[: chance.randrange(len(text) + 1)]
    thinks = thoughts and chance.random() < 0.2
    drafts = list[int]()
    if not thinks:
        assert grammar.accept_tokens("", written)
        if drafted:
            drafts = matcher.compute_ff_tokens()[: chance.randrange(DRAFTS + 1)]
        if len(written) == len(text) and chance.random() < 0.5:
            grammar.accept_tokens("", [TOKENIZER.eos_token])
    asked = SimpleNamespace(
        grammar=grammar,
        reasoning_ended=None if thinks else True,
        reasoner=None,
        reasoning_parser_kwargs=None,
    )
    given = {
        "use_structured_output": True,
        "prompt_token_ids": [],
        "all_token_ids": written,
    }
    return SimpleNamespace(structured_output_request=asked, **given), drafts


plain, ours = manager(), manager()
at_once = _filled_at_once(StructuredOutputManager.grammar_bitmask)
number, different = 0, []
for turn in range(60):
    chance = random.Random(turn)
    kinds = {"thoughts": turn % 3 == 1, "drafted": turn % 3 == 2}
    asked = [request(chance, **kinds) for _ in range(chance.randrange(REQUESTS + 1))]
    requests = {str(place): one for place, (one, _) in enumerate(asked)}
    drafts = {str(place): tokens for place, (_, tokens) in enumerate(asked) if tokens}
    expected = plain.grammar_bitmask(requests, list(requests), drafts)
    found = at_once(ours, requests, list(requests), drafts)
    if expected is None or found is None:
        assert expected is found and not asked
        continue
    number += len(expected)
    different += [turn] if not (expected == found).all() else []
print(json.dumps([number, different]))
