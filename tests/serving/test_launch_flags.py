"""Every flag that the launcher passes, against the parser of the vLLM that is
installed.

The builds for the CPU and for CUDA have the same parser: of version 0.32.0 all files of
both wheels that it is made of are the same.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.models.test_vllm_settings import LAUNCH
from tests.serving.served import told_by_vllm

ENV = Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving"))
ALL = (
    *("/my/model", "--name", "mine", "--port", "8123", "--dtype", "bfloat16"),
    *("--context-tokens", "4096", "--reasoning-parser", "qwen3", "--forced-tokens"),
    *(
        "--tensor-parallel-size",
        "2",
        "--gpu-memory-utilization",
        "0.5",
        "--batch-invariant",
    ),
)
COMMANDS = {
    "CUDA": (*ALL, "--device", "cuda"),
    "CPU": (*ALL, "--device", "cpu"),
    "little": ("/my/model", "--device", "cuda"),
    "more": (
        *(
            "/my/model",
            "--device",
            "cuda",
            "--",
            "--max-num-seqs",
            "64",
            "--revision",
            "main",
        ),
        *(
            "--data-parallel-size=4",
            "--api-server-count=2",
            "--data-parallel-backend=ray",
        ),
    ),
}


def passed(arguments: tuple[str, ...]) -> list[str]:
    """What the launcher gives the server, behind `python -m MODULE` or `vllm serve`."""
    command: list[str] = LAUNCH.server_command(LAUNCH.parse(list(arguments)))
    return command[command.index("serve") + 1 if "serve" in command else 3 :]


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    commands = [passed(one) for one in COMMANDS.values()]
    # Its errors name a flag or a value that vLLM does not take.
    read: dict[str, Any] = told_by_vllm("parsed_by_vllm.py", {"commands": commands})
    return read | {"values": dict(zip(COMMANDS, read["values"], strict=True))}


def test_each_flag_is_one_of_vllms_by_its_full_name(told: dict[str, Any]) -> None:
    """A parser takes the beginning of a name too, which the next version may call
    ambiguous.
    """
    words = {word for one in COMMANDS.values() for word in passed(one)}
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert len(given) > 15
    assert given - set(told["flags"]) == set()
    assert given & set(told["deprecated"]) == set()


def test_what_vllm_understands_is_what_was_meant(told: dict[str, Any]) -> None:
    cuda, cpu, little, more = told["values"].values()
    for values in (cuda, cpu):
        assert "/my/model" in (values["model_tag"], values["model"])
        assert values["served_model_name"] == "['mine']"
        assert (values["host"], values["port"]) == ("127.0.0.1", "8123")
        assert (values["dtype"], values["max_model_len"]) == ("bfloat16", "4096")
        assert values["reasoning_parser"] == "qwen3"
        assert "guidance" in values["structured_outputs_config"]
        assert "forced_tokens.NoProposer" in values["speculative_config"]
        assert values["scheduler_cls"] == "forced_tokens.ForcingScheduler"
    assert (cuda["tensor_parallel_size"], cuda["gpu_memory_utilization"]) == (
        "2",
        "0.5",
    )
    assert (cuda["enforce_eager"], cpu["enforce_eager"]) == ("False", "True")
    assert cpu["enable_chunked_prefill"] == "False" != cuda["enable_chunked_prefill"]
    assert cpu["block_size"] == "32" != cuda["block_size"]
    assert (little["max_model_len"], little["speculative_config"]) == ("None", "None")
    assert (more["max_num_seqs"], more["revision"]) == ("64", "main")
    assert (more["data_parallel_size"], more["api_server_count"]) == ("4", "2")
    assert more["data_parallel_backend"] == "ray"


def test_each_variable_is_one_of_vllms(told: dict[str, Any]) -> None:
    given = {
        name
        for arguments in COMMANDS.values()
        for name in LAUNCH.server_environment(LAUNCH.parse(list(arguments)))
        if name.startswith("VLLM_") and name not in os.environ
    }
    assert {
        "VLLM_BATCH_INVARIANT",
        "VLLM_NO_USAGE_STATS",
        "VLLM_CPU_KVCACHE_SPACE",
    } <= given
    assert {"VLLM_RAY_EXTRA_ENV_VARS_TO_COPY", "VLLM_USE_V2_MODEL_RUNNER"} <= given
    named = {name for name in LAUNCH.NOT_FROM_OUTSIDE if name.startswith("VLLM_")}
    assert (given | named | {"VLLM_USE_DEEP_GEMM"}) - set(told["variables"]) == set()


def test_other_spellings_are_those_that_vllm_knows(told: dict[str, Any]) -> None:
    """What is looked for in the arguments of users."""
    short = {"-dp", "-dpl", "-dpb", "-sc", "--spec-method", "--tokenizer", "--revision"}
    assert short - set(told["flags"]) == set()
