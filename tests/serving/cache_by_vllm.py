"""Run by the serving environment's Python: what vLLM's own code says that a request's cache takes.

Reads JSON: [{"layers", "windowed_layers", "window", "kv_heads", "head_size", "tokens",
"in_flight"}, …]. Prints JSON: bytes of each, in 16 bits, with the blocks of a GPU.
"""

import json
import sys
from types import SimpleNamespace

import torch
from vllm.config import CacheConfig
from vllm.v1.core.kv_cache_utils import _max_memory_usage_bytes_from_groups, get_kv_cache_groups
from vllm.v1.kv_cache_interface import FullAttentionSpec, SlidingWindowSpec


def taken(shape: dict[str, int]) -> int:
    size = {"block_size": 16, "num_kv_heads": shape["kv_heads"], "head_size": shape["head_size"]}
    full = FullAttentionSpec(**size, dtype=torch.bfloat16)
    windowed = SlidingWindowSpec(
        **size, dtype=torch.bfloat16, sliding_window=shape["window"] or 1, dcp_sharded=False
    )
    few = shape["windowed_layers"]
    specs = {f"layer.{n}": windowed if n < few else full for n in range(shape["layers"])}
    cache = CacheConfig(block_size=16)
    cache.kv_cache_layout = "LBHNC"
    config = SimpleNamespace(
        model_config=SimpleNamespace(max_model_len=shape["tokens"]),
        parallel_config=SimpleNamespace(decode_context_parallel_size=1),
        scheduler_config=SimpleNamespace(disable_hybrid_kv_cache_manager=False),
        cache_config=cache,
        speculative_config=None,
        attention_config=SimpleNamespace(hisparse_config=None),
        max_in_flight_tokens=shape["in_flight"],
    )
    groups = get_kv_cache_groups(config, specs)
    return int(_max_memory_usage_bytes_from_groups(config, groups))


print(json.dumps([taken(shape) for shape in json.load(sys.stdin)]))
