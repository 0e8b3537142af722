"""The cache that models/memory.py reckons with, against vLLM's own code and its own words."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pddlego_local.commands.shared.fit import about_of, model_settings
from pddlego_local.models.memory import Shape, in_flight, shape_found, shape_told
from pddlego_local.models.vllm.model import VllmModel
from tests.serving.served import CONTEXT_TOKENS, told_by_vllm
from tools.model_facts import PUBLISHED

GB = 10**9


def shapes() -> dict[str, Shape]:
    """Of all published models, in 16 bits; and one whose kinds of layers are almost as many."""
    found = {}
    for path in PUBLISHED:
        if about := about_of(model_settings(path.stem)):
            found[path.stem] = replace(shape_told(about, "bfloat16"), element=2)
    found["13 and 12"] = replace(found["gpt_oss_20b"], layers=25, windowed_layers=12)
    return found


def test_vllms_own_code_counts_the_same_bytes() -> None:
    """Of 32 models, on a small card and on a large one, for answers that end within a block."""
    asked = [
        (name, shape, tokens, flying)
        for name, shape in shapes().items()
        for tokens in (1_000, 10_001, 32_768)
        for flying in (in_flight(24 * GB), in_flight(80 * GB))
    ]
    told = [
        {
            **{key: getattr(shape, key) for key in ("layers", "windowed_layers", "window")},
            "kv_heads": shape.kv_heads,
            "head_size": shape.head_size,
            "tokens": tokens,
            "in_flight": flying,
        }
        for _, shape, tokens, flying in asked
    ]
    counted = told_by_vllm("cache_by_vllm.py", told)
    assert len(asked) > 200
    for (name, shape, tokens, flying), said in zip(asked, counted, strict=True):
        assert shape.cache(tokens, in_flight=flying) == said, (name, tokens, flying)


def test_a_servers_log_says_as_many_tokens(plain: VllmModel, weights: Path) -> None:
    assert plain._managed is not None
    said = re.search(r"KV cache size: ([\d,]+) tokens", plain._managed.log_text())
    assert said is not None
    answer = shape_found(weights, "float32").cache(CONTEXT_TOKENS)
    ours = plain.server.kv_cache_gib * 1024**3 * CONTEXT_TOKENS // answer
    assert int(said[1].replace(",", "")) == pytest.approx(ours, rel=0.001)
