"""Every flag that the launcher passes, against the parser of the vLLM that is
installed.

The builds for the CPU and for CUDA have the same parser: of version 0.32.0 all files of
both wheels that it is made of are the same.
"""

import os
from typing import Any

import pytest

from tests.models.test_vllm_settings import LAUNCH
from tests.serving.served import told_by_vllm

ALL = """/my/model --name mine --port 8123 --dtype bfloat16 --context-tokens 4096
    --reasoning-parser qwen3 --tensor-parallel-size 2
    --gpu-memory-utilization 0.5 --batch-invariant"""
MORE = """--max-num-seqs 64 --revision main --data-parallel-size=4 --api-server-count=2
    --data-parallel-backend=ray"""
COMMANDS = {
    "CUDA": f"{ALL} --device cuda",
    "CPU": f"{ALL} --device cpu",
    "little": "/my/model --device cuda",
    "more": f"/my/model --device cuda -- {MORE}",
}


def passed(arguments: str) -> list[str]:
    """What the launcher gives the server, behind `vllm serve`."""
    command: list[str] = LAUNCH.server_command(LAUNCH.parse(arguments.split()))
    return command[command.index("serve") + 1 :]


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    commands = [passed(arguments) for arguments in COMMANDS.values()]
    # Its errors name a flag or a value that vLLM does not take.
    read: dict[str, Any] = told_by_vllm("parsed_by_vllm.py", {"commands": commands})
    return read | {"values": dict(zip(COMMANDS, read["values"], strict=True))}


def test_each_flag_is_one_of_vllms_by_its_full_name(told: dict[str, Any]) -> None:
    """A parser takes the beginning of a name too, which the next version may call
    ambiguous.
    """
    given = set()
    for arguments in COMMANDS.values():
        for word in passed(arguments):
            if word.startswith("--"):
                given.add(word.partition("=")[0])
    assert len(given) > 15
    assert given <= set(told["flags"])
    assert not given & set(told["deprecated"])


ON_EACH_DEVICE = {
    "model_tag": "/my/model",
    "served_model_name": "['mine']",
    "host": "127.0.0.1",
    "port": "8123",
    "dtype": "bfloat16",
    "max_model_len": "4096",
    "reasoning_parser": "qwen3",
}
EXPECTED = {
    "CUDA": ON_EACH_DEVICE
    | {
        "tensor_parallel_size": "2",
        "gpu_memory_utilization": "0.5",
        "enforce_eager": "False",
    },
    "CPU": ON_EACH_DEVICE
    | {
        "enforce_eager": "True",
        "enable_chunked_prefill": "False",
        "block_size": "32",
    },
    "little": {"max_model_len": "None", "speculative_config": "None"},
    "more": {
        "max_num_seqs": "64",
        "revision": "main",
        "data_parallel_size": "4",
        "api_server_count": "2",
        "data_parallel_backend": "ray",
    },
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_vllm_understands_is_what_was_meant(
    told: dict[str, Any], name: str
) -> None:
    values = told["values"][name]
    assert EXPECTED[name].items() <= values.items()
    assert "guidance" in values["structured_outputs_config"]


def test_each_variable_is_one_of_vllms(told: dict[str, Any]) -> None:
    given = set()
    for arguments in COMMANDS.values():
        environment = LAUNCH.server_environment(LAUNCH.parse(arguments.split()))
        given |= environment.keys() - os.environ.keys()
    ours = {name for name in given if name.startswith("VLLM_")}
    assert {"VLLM_BATCH_INVARIANT", "VLLM_CPU_KVCACHE_SPACE"} <= ours
    ours |= {name for name in LAUNCH.NOT_FROM_OUTSIDE if name.startswith("VLLM_")}
    ours.add("VLLM_USE_DEEP_GEMM")
    assert ours <= set(told["variables"])


def test_other_spellings_are_those_that_vllm_knows(told: dict[str, Any]) -> None:
    """What is looked for in the arguments of users."""
    short = {"-dp", "-dpl", "-dpb", "-sc", "--spec-method", "--tokenizer", "--revision"}
    assert short <= set(told["flags"])
