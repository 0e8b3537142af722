"""Whether a card's memory is free is said before a server starts, on stand-ins for the driver."""

import re
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.core.errors import MissingPart
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.vllm import gpu_preflight
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import FORCED_TOKENS_NEED, Server
from tests.models.test_vllm_settings import launch_module, serving_environment

GOOD, DESKTOP, FULL = "80000, 81559", "20500, 24564", "900, 24564"
UNTOLD = "[N/A], [N/A]"


@pytest.fixture
def env(tmp_path: Path) -> Path:
    return serving_environment(tmp_path, "vllm", f"{FORCED_TOKENS_NEED}+cu130")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_preflight, "REST_S", 0)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """A driver's tool that tells of GPUs with so many MiB free, and in all; by index if it is asked
    for some of them."""
    tool = tmp_path / "driver" / "nvidia-smi"
    tool.parent.mkdir(exist_ok=True)
    (tool.parent / "told").write_text("\n".join(lines))
    every = ",".join(map(str, range(len(lines))))
    tool.write_text(f"""#!/bin/sh
case "$1" in
    --list-gpus) sed 's/^/GPU /' {tool.parent}/told; echo;;
    --query-gpu=memory.free,*)
        chosen=${{3:---id={every}}}
        for n in $(echo "${{chosen#--id=}}" | tr , ' '); do
            case "$n" in [0-9]) ;; *) exit 6;; esac
            sed -n "$((n + 1))p" {tool.parent}/told
        done;;
    --query-gpu=compute_cap) echo 9.0;;
    *) exit 6;;
esac
""")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")


def said_of(server: Server) -> str:
    try:
        gpu_preflight.check_memory(server)
    except MissingPart as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("cards", "chosen", "server", "said"),
    [
        ([GOOD], "", Server(), ""),
        ([DESKTOP], "", Server(), r"20\.0 of 24\.0 GiB .*gpu_memory_utilization=0\.83"),
        ([DESKTOP], "", Server(gpu_memory_utilization=0.83), ""),
        # What the driver does not tell stops nobody.
        ([UNTOLD], "", Server(), ""),
        (["[Insufficient Permissions], 81559"], "", Server(), ""),
        (["No devices were found"], "", Server(), ""),
        ([FULL], "MIG-33333333-aaaa-bbbb-cccc-000000000000", Server(), ""),
        # Those that it will use count.
        ([FULL, GOOD], "", Server(), r"Only 0\.9 of 24\.0 GiB"),
        ([FULL, GOOD], " 1", Server(), ""),
        ([FULL, GOOD], "1,0", Server(), ""),
        ([GOOD, FULL], "", Server(tensor_parallel_size=2), r"Only 0\.9 of 24\.0 GiB"),
        ([GOOD, FULL], "0,1", Server(extra_arguments=("-dp", "2")), r"Only 0\.9 of 24\.0 GiB"),
        ([FULL, GOOD], "0", Server(variables={"CUDA_VISIBLE_DEVICES": "1"}), ""),
    ],
)
def test_a_card_whose_memory_others_hold(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cards: list[str],
    chosen: str,
    server: Server,
    said: str,
) -> None:
    plant(tmp_path, monkeypatch, *cards)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    told = said_of(server)
    assert bool(told) == bool(said) and re.search(said, told)


def test_a_model_says_it_before_anything_is_loaded(
    env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = make_random_llama(tmp_path / "weights", seed=1)
    model = VllmModel(weights=str(weights), server=Server(env=env))
    plant(tmp_path, monkeypatch, GOOD)
    model.preflight()
    plant(tmp_path, monkeypatch, DESKTOP)
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
    plant(tmp_path, monkeypatch, DESKTOP)
    assert run(["doctor"]) == 0
    assert "missing  vLLM: Only 20.0 of 24.0 GiB" in capsys.readouterr().out
    plant(tmp_path, monkeypatch, UNTOLD)  # of a GPU that shares the processor's memory
    run(["doctor"])
    told = capsys.readouterr().out
    assert "1 from NVIDIA, of unknown memory" in told and "0.32.0+cu130, cuda build" in told
    assert run(["doctor", "qwen3_8b"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "does not tell the GPU's memory (say it with --gpu-memory)" in told
