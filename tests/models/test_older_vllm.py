"""vLLM 0.23, which fits torch 2.11, is given nothing that it does not know.

The names are those of its wheel: flags of its own parser, variables of its envs.py,
routes and fields that answers are asked for with.
"""

from pathlib import Path

import pytest

from tests.models.test_vllm_settings import (
    CONFIGS,
    LAUNCH,
    server_of,
    serving_environment,
)

KNOWN = {
    *(
        "--served-model-name",
        "--host",
        "--port",
        "--dtype",
        "--structured-outputs-config",
    ),
    *(
        "--uvicorn-log-level",
        "--max-model-len",
        "--reasoning-parser",
        "--tensor-parallel-size",
    ),
    *(
        "--gpu-memory-utilization",
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        "--model",
    ),
    "--block-size",
    *("--chat-template", "--tokenizer", "--revision", "--limit-mm-per-prompt"),
    *("--tokenizer-mode", "--config-format", "--load-format"),
    *("--data-parallel-size", "--api-server-count", "--data-parallel-backend"),
}
VARIABLES = {
    *(
        "VLLM_NO_USAGE_STATS",
        "VLLM_CPU_KVCACHE_SPACE",
        "VLLM_BATCH_INVARIANT",
        "VLLM_API_KEY",
    ),
    *(
        "VLLM_USE_FLASHINFER_SAMPLER",
        "VLLM_SYSTEM_START_DATE",
        "VLLM_USE_V2_MODEL_RUNNER",
    ),
    *(
        "VLLM_USE_DEEP_GEMM",
        "VLLM_CPU_NUM_OF_RESERVED_CPU",
        "VLLM_ENABLE_V1_MULTIPROCESSING",
    ),
    "VLLM_HOST_IP",
}
UNKNOWN = {
    "--per-request-spec-decode-metrics"
}  # of forced tokens, which 0.23 is started without


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_a_server_is_started_with(device: str, tmp_path: Path) -> None:
    env = serving_environment(tmp_path, "vllm", "0.23.0")
    words = [
        "/model",
        "--device",
        device,
        "--context-tokens",
        "4096",
        "--batch-invariant",
    ]
    words += ["--env", str(env)]
    words += ["--reasoning-parser", "qwen3"]
    options = LAUNCH.parse(words)
    given = {word for word in LAUNCH.server_command(options) if word.startswith("--")}
    assert len(given) > 8 and given <= KNOWN
    told = {
        name for name in LAUNCH.server_environment(options) if name.startswith("VLLM_")
    }
    assert len(told) > 3 and told <= VARIABLES
    forced = LAUNCH.server_command(LAUNCH.parse([*words, "--forced-tokens"]))
    assert set(forced) & UNKNOWN == UNKNOWN


def test_what_the_configs_add() -> None:
    for name in CONFIGS:
        server = server_of(name)
        flags = {
            word for word in server.get("extra_arguments", ()) if word.startswith("--")
        }
        assert flags <= KNOWN, name
        told = {
            word for word in server.get("variables", {}) if word.startswith("VLLM_")
        }
        assert told <= VARIABLES, name
