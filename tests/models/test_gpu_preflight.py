"""What would stop a CUDA server is said before it starts, on stand-ins for the driver's tool."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.cli import run
from pddlego_local.core.errors import MissingPart
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.vllm import gpu_preflight
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import FORCED_TOKENS_NEED, Server
from tests.models.test_vllm_settings import (
    H100,
    TURING,
    launch_module,
    plant_gpus,
    serving_environment,
)

DESKTOP = "580.65.06, 8.9, 20500, 24564"
OLD, OLDER = "550.54, 9.0, 80000, 81559", "535.104, 9.0, 80000, 81559"
FULL = "580.65, 8.9, 900, 24564"
UNTOLD = "580.95.05, 12.1, [N/A], [N/A]"  # of a GPU that shares the processor's memory
BUSY = r"Only 0\.9 of 24\.0 GiB"
COMPATIBLE = "VLLM_ENABLE_CUDA_COMPATIBILITY"


@pytest.fixture
def env(tmp_path: Path) -> Path:
    env = serving_environment(tmp_path, "vllm", f"{FORCED_TOKENS_NEED}+cu130")
    torch = env / "lib/python3.11/site-packages/torch"
    torch.mkdir()
    (torch / "version.py").write_text("cuda: Optional[str] = '13.0'\n")
    return env


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_preflight, "REST_S", 0)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def said_of(env: Path, dtype: str = "auto", **settings: Any) -> list[str]:
    try:
        gpu_preflight.check_machine(Server(env=env, **settings), dtype)
    except MissingPart as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize(
    ("cards", "chosen", "settings", "said"),
    [
        ([H100], "", {}, ""),
        ([DESKTOP], "", {}, r"20\.0 of 24\.0 GiB .*gpu_memory_utilization=0\.83"),
        ([DESKTOP], "", {"gpu_memory_utilization": 0.83}, ""),
        ([OLD], "", {}, r"version 550, .* CUDA 13\.0, .* 580 or newer"),
        ([TURING], "", {"dtype": "bfloat16"}, r"the GPU has 7\.5: set model\.dtype=float16"),
        ([TURING], "", {"dtype": "float16"}, ""),
        # What the driver does not tell stops nobody: memory shared with the processor, old tools.
        ([UNTOLD], "", {"dtype": "bfloat16"}, ""),
        (["580.65, 9.0, [Insufficient Permissions], 81559"], "", {}, ""),
        (["580.65, [N/A], 80000, 81559"], "", {"dtype": "bfloat16"}, ""),
        (["[Unknown Error], 9.0, 80000, 81559"], "", {}, ""),
        (["550.54, 9.0, [N/A], [N/A]"], "", {}, r"version 550, .* 580 or newer"),
        (["No devices were found"], "", {"dtype": "bfloat16"}, ""),
        ([FULL], "MIG-33333333-aaaa-bbbb-cccc-000000000000", {}, ""),
        # Those that it will use count.
        ([FULL, OLD], "", {}, BUSY),
        ([FULL, H100], " 1", {}, ""),
        ([FULL, OLD], "1,0", {}, "version 550"),
        ([H100, FULL], "", {"tensor_parallel_size": 2}, BUSY),
        ([H100, FULL], "0,1", {"extra_arguments": ("-dp", "2")}, BUSY),
        ([FULL, H100], "0", {"variables": {"CUDA_VISIBLE_DEVICES": "1"}}, ""),
        # vLLM may be told to load the libraries of CUDA's compatibility layer.
        ([OLDER], "", {}, rf"version 535.*{COMPATIBLE}='1'"),
        ([OLDER], "", {"variables": {COMPATIBLE: "0"}}, "version 535"),
    ],
)
def test_what_would_stop_the_server(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cards: list[str],
    chosen: str,
    settings: dict[str, Any],
    said: str,
) -> None:
    plant_gpus(tmp_path, monkeypatch, *cards)
    roomy = shutil.disk_usage("/")._replace(free=gpu_preflight.SHARED_MEMORY)
    monkeypatch.setattr("shutil.disk_usage", lambda place: roomy)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    told = said_of(env, **settings)
    assert len(told) == bool(said) and re.search(said, "".join(told))


@pytest.mark.parametrize("value", ["1", "true"])
@pytest.mark.parametrize("by_option", [False, True])
def test_an_old_driver_is_a_warning_where_an_option_says_so(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    value: str,
    by_option: bool,
) -> None:
    plant_gpus(tmp_path, monkeypatch, OLDER)
    variables = {COMPATIBLE: value}
    if not by_option:
        monkeypatch.setenv(*variables.popitem())
    assert said_of(env, variables=variables) == []
    assert "version 535" in caplog.text


def test_several_obstacles_are_told_at_once(
    env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the cards, and what Triton and several cards in a container need of the machine."""
    plant_gpus(tmp_path, monkeypatch, "550.54, 7.5, 900, 24564", H100)
    (env / "bin/python").write_text("#!/bin/sh\necho /nowhere/include\n")
    (env / "bin/python").chmod(0o755)
    (header,) = said_of(env, variables={"CUDA_VISIBLE_DEVICES": "1"})
    assert "/nowhere/include/Python.h" in header and "apt install python3-dev" in header
    little = shutil.disk_usage("/")._replace(free=64 * 1024**2)
    monkeypatch.setattr("shutil.disk_usage", lambda place: little)
    monkeypatch.setattr("shutil.which", lambda name: None)
    for cards in ({"tensor_parallel_size": 2}, {"extra_arguments": ("-dp", "2")}):
        driver, compiler, _, memory, data_type, shared = said_of(env, "bfloat16", **cards)
        assert "version 550" in driver and "no C compiler" in compiler
        assert "0.9 of 24.0 GiB" in memory and "the GPU has 7.5" in data_type
        assert "64 MiB of shared memory" in shared and "--ipc=host" in shared
    assert len(said_of(env)) == 4  # of one card alone: no shared memory


def test_a_model_says_it_before_anything_is_loaded(
    env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = make_random_llama(tmp_path / "weights", seed=1)
    model = VllmModel(weights=str(weights), server=Server(env=env))
    plant_gpus(tmp_path, monkeypatch, H100)
    model.preflight()
    plant_gpus(tmp_path, monkeypatch, DESKTOP)
    with pytest.raises(MissingPart, match="end what else runs there"):
        model.preflight()


def test_a_server_does_not_compile_a_sampler_that_it_never_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launch = launch_module()
    monkeypatch.delenv("VLLM_USE_FLASHINFER_SAMPLER", raising=False)
    for device in ("cuda", "cpu"):
        environment = launch.server_environment(launch.parse(["model", "--device", device]))
        assert environment["VLLM_USE_FLASHINFER_SAMPLER"] == "0"


def test_doctor_says_it_too_and_takes_untold_memory_for_no_missing_gpu(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / ".venv-serving").symlink_to(env)
    monkeypatch.chdir(tmp_path)
    plant_gpus(tmp_path, monkeypatch, DESKTOP)
    assert run(["doctor"]) == 0
    assert "missing  vLLM: Only 20.0 of 24.0 GiB" in capsys.readouterr().out
    plant_gpus(tmp_path, monkeypatch, UNTOLD)
    run(["doctor"])
    told = capsys.readouterr().out
    assert "1 from NVIDIA, of unknown memory" in told and "0.32.0+cu130, cuda build" in told
    assert run(["doctor", "qwen3_8b"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "does not tell the GPU's memory (say it with --gpu-memory)" in told
