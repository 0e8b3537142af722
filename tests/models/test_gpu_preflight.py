"""What would stop a CUDA server is said before it starts, on stand-ins for the driver's tool."""

import re
import shutil
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.core.errors import MissingPart
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.vllm import gpu_preflight
from pddlego_local.models.vllm.gpu_preflight import obstacles
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import FORCED_TOKENS_NEED, Server
from tests.models.test_vllm_settings import launch_module, serving_environment

GOOD = "0, 580.65.06, 9.0, 80000, 81559"
DESKTOP = "0, 580.65.06, 8.9, 20500, 24564"


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


def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *lines: str, listing: str = "") -> None:
    """A driver's tool that tells of these GPUs: index, driver, capability, MiB free, MiB in all.
    `listing` is what it says when it is asked for their names."""
    tool = tmp_path / "driver" / "nvidia-smi"
    tool.parent.mkdir(exist_ok=True)
    listing = listing or "\n".join(f"GPU {line}" for line in lines)
    told = "\\n".join(lines)
    tool.write_text(
        "#!/bin/sh\n"
        f'case "$1" in --list-gpus) echo "{listing}";;\n'
        f'--query-gpu=index*) printf "{told}\\n";;\n'
        "--query-gpu=compute_cap) echo 9.0;; *) exit 6;; esac\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")


@pytest.mark.parametrize(
    ("line", "used", "dtype", "said"),
    [
        (GOOD, 0.9, "auto", ""),
        (DESKTOP, 0.9, "auto", r"20\.0 of 24\.0 GiB .*gpu_memory_utilization=0\.83"),
        (DESKTOP, 0.83, "auto", ""),
        (
            "0, 550.54, 9.0, 80000, 81559",
            0.9,
            "auto",
            r"version 550, .* CUDA 13\.0, .* 580 or newer",
        ),
        (
            "0, 580.65, 7.5, 16000, 16384",
            0.9,
            "bfloat16",
            r"the GPU has 7\.5: set model\.dtype=float16",
        ),
        ("0, 580.65, 7.5, 16000, 16384", 0.9, "float16", ""),
        # What the driver does not tell stops nobody: memory shared with the processor, old tools.
        ("0, 580.95.05, 12.1, [N/A], [N/A]", 0.9, "bfloat16", ""),
        ("0, 580.65, 9.0, [Insufficient Permissions], 81559", 0.9, "auto", ""),
        ("0, 580.65, [N/A], 80000, 81559", 0.9, "bfloat16", ""),
        ("0, [Unknown Error], 9.0, 80000, 81559", 0.9, "auto", ""),
        ("0, 550.54, 9.0, [N/A], [N/A]", 0.9, "auto", r"version 550, .* 580 or newer"),
        ("No devices were found", 0.9, "bfloat16", ""),
    ],
)
def test_a_card_that_would_stop_the_server(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    used: float,
    dtype: str,
    said: str,
) -> None:
    plant(tmp_path, monkeypatch, line)
    found = obstacles(Server(env=env, gpu_memory_utilization=used), dtype)
    assert len(found) == bool(said) and re.search(said, "".join(found))


def test_the_cards_that_are_visible_count(
    env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, monkeypatch, "0, 580.65, 8.9, 900, 24564", "1, 580.65, 8.9, 24000, 24564")
    assert "0.9 of 24.0 GiB" in obstacles(Server(env=env))[0]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert obstacles(Server(env=env)) == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert len(obstacles(Server(env=env, tensor_parallel_size=2))) == 1


CARDS = (
    "0, 580.65, 8.9, 900, 24564",
    "1, 550.54, 8.0, 24000, 24564",
)
LISTED = """\
GPU 0: NVIDIA L4 (UUID: GPU-11111111-aaaa-bbbb-cccc-000000000000)
GPU 1: NVIDIA A100 (UUID: GPU-22222222-aaaa-bbbb-cccc-000000000000)
  MIG 3g.20gb     Device  0: (UUID: MIG-33333333-aaaa-bbbb-cccc-000000000000)
  MIG 3g.20gb     Device  1: (UUID: MIG-GPU-22222222-aaaa-bbbb-cccc-000000000000/2/0)
"""
FULL, OLD = r"0\.9 of 24\.0 GiB", "version 550"


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("GPU-11111111-aaaa-bbbb-cccc-000000000000", FULL),
        ("GPU-2222", OLD),  # as much of it as no other has
        ("MIG-33333333-aaaa-bbbb-cccc-000000000000", OLD),
        ("MIG-GPU-22222222-aaaa-bbbb-cccc-000000000000/2/0", OLD),
        ("1", OLD),
        (" 0", FULL),
        ("GPU-of-another-machine", FULL),  # whatever that is, the start will say
        ("", FULL),
    ],
)
@pytest.mark.parametrize("by_option", [False, True])
def test_a_card_or_a_part_of_one_is_chosen_by_any_name(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    chosen: str,
    said: str,
    by_option: bool,
) -> None:
    plant(tmp_path, monkeypatch, *CARDS, listing=LISTED)
    variables = {"CUDA_VISIBLE_DEVICES": chosen}
    if not by_option:
        monkeypatch.setenv(*variables.popitem())
    (found,) = obstacles(Server(env=env, variables=variables))
    assert re.search(said, found)


@pytest.mark.parametrize("by_option", [False, True])
@pytest.mark.parametrize("value", ["1", "true", "0"])
def test_an_old_driver_is_a_warning_where_an_option_says_so(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    value: str,
    by_option: bool,
) -> None:
    """vLLM then loads the libraries of CUDA's compatibility layer."""
    plant(tmp_path, monkeypatch, "0, 535.104, 9.0, 80000, 81559")
    (told,) = obstacles(Server(env=env))
    assert "version 535" in told and "VLLM_ENABLE_CUDA_COMPATIBILITY='1'" in told
    variables = {"VLLM_ENABLE_CUDA_COMPATIBILITY": value}
    if not by_option:
        monkeypatch.setenv(*variables.popitem())
    found = obstacles(Server(env=env, variables=variables))
    assert len(found) == (value == "0")
    assert ("version 535" in caplog.text) == (value != "0")


def test_what_triton_needs_is_asked_of_the_machine(
    env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, monkeypatch, GOOD)
    (env / "bin/python").write_text("#!/bin/sh\necho /nowhere/include\n")
    (env / "bin/python").chmod(0o755)
    (said,) = obstacles(Server(env=env))
    assert "/nowhere/include/Python.h" in said and "apt install python3-dev" in said
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "no C compiler" in obstacles(Server(env=env))[0]


def test_several_cards_in_a_container_need_shared_memory(
    env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, monkeypatch, GOOD, GOOD.replace("0,", "1,", 1))
    little = shutil.disk_usage("/")._replace(free=64 * 1024**2)
    monkeypatch.setattr("shutil.disk_usage", lambda place: little)
    assert obstacles(Server(env=env)) == []
    for server in (
        Server(env=env, tensor_parallel_size=2),
        Server(env=env, extra_arguments=("--data-parallel-size", "2")),
    ):
        (said,) = obstacles(server)
        assert "64 MiB of shared memory" in said and "--ipc=host" in said


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


def test_doctor_says_it_too(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plant(tmp_path, monkeypatch, DESKTOP)
    (tmp_path / ".venv-serving").symlink_to(env)
    monkeypatch.chdir(tmp_path)
    assert run(["doctor"]) == 0
    told = capsys.readouterr().out
    assert "missing  vLLM: Only 20.0 of 24.0 GiB" in told


def test_memory_that_the_driver_does_not_tell_is_not_taken_for_no_gpu(
    env: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of a GPU that shares the processor's memory."""
    plant(tmp_path, monkeypatch, "0, 580.95.05, 12.1, [N/A], [N/A]")
    (tmp_path / ".venv-serving").symlink_to(env)
    monkeypatch.chdir(tmp_path)
    run(["doctor"])
    told = capsys.readouterr().out
    assert "1 from NVIDIA, of unknown memory" in told and "0.32.0+cu130, cuda build" in told
    assert run(["doctor", "qwen3_8b"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "does not tell the GPU's memory (say it with --gpu-memory)" in told
