"""How large the steps are: on a GPU, and on a CPU, which only rehearses them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# The size of the cache is given: vLLM would measure the free memory at its start,
# which changes while two servers start.
_GIB = 2**30
# Compiling a model of 8B takes longer than a step; without it a start takes seconds.
_UNCOMPILED = '{"mode": 0, "cudagraph_mode": "FULL_DECODE_ONLY"}'
_QUICKLY = ("--compilation-config", _UNCOMPILED, "--max-num-seqs", "64")


@dataclass(frozen=True)
class Sizes:
    """`at_once` are the numbers of answers that are written at the same time, the most
    informative first. Tokens are those of one request. All deadlines are multiplied by
    `times`.
    """

    shape: Mapping[str, int]
    dtype: str
    context_tokens: int
    at_once: Sequence[int]
    free_tokens: int
    stage_tokens: int
    compared: int
    compared_tokens: int
    arguments: Sequence[str]
    of_nano: Sequence[str]
    of_large: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    times: float = 1


SIZES = {
    "cuda": Sizes(
        shape={  # Llama 3.1 8B
            "vocab_size": 128256,
            "hidden_size": 4096,
            "intermediate_size": 14336,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "max_position_embeddings": 8192,
        },
        dtype="bfloat16",
        context_tokens=8192,
        at_once=(32, 1, 64),
        free_tokens=200,
        stage_tokens=60,
        compared=64,
        compared_tokens=24,
        arguments=("--device", "cuda", "--gpu-memory-utilization", "0.4"),
        of_nano=("--kv-cache-memory-bytes", str(2 * _GIB), *_QUICKLY),
        of_large=("--kv-cache-memory-bytes", str(8 * _GIB), *_QUICKLY),
        # nano is computed in float32, in which Triton would otherwise multiply in TF32.
        variables={"TRITON_F32_DEFAULT": "ieee"},
    ),
    "cpu": Sizes(
        shape={
            "vocab_size": 4000,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "max_position_embeddings": 4096,
        },
        dtype="float32",
        context_tokens=4096,
        at_once=(2, 1),
        free_tokens=20,
        stage_tokens=8,
        compared=4,
        compared_tokens=6,
        arguments=("--device", "cpu", "--kv-cache-gib", "1"),
        of_nano=(),
        of_large=(),
        variables={"OMP_NUM_THREADS": "1"},
        times=4,
    ),
}
