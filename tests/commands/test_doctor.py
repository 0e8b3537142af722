"""`pddlego doctor`: what is installed; and of a model, whether its weights fit and are
here.
"""

from pathlib import Path

import pytest

from pddlego_local.models.random import make_random_llama
from tests.pddlego import Pddlego

GB = 10**9


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


def plant_gpus(monkeypatch: pytest.MonkeyPatch, count: int, memory: int) -> None:
    monkeypatch.setattr("pddlego_local.commands.shared.fit.gpu_count", lambda: count)
    monkeypatch.setattr("pddlego_local.commands.shared.fit.gpu_memory", lambda: memory)


@pytest.mark.parametrize("count", [0, 2])
def test_it_says_whether_there_are_gpus_and_something_to_serve_with(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int
) -> None:
    monkeypatch.setattr("pddlego_local.commands.doctor.gpu_count", lambda: count)
    monkeypatch.setattr("pddlego_local.commands.doctor.gpu_memory", lambda: 24 * GB)
    monkeypatch.chdir(tmp_path)  # there is no .venv-serving
    told = pddlego("doctor").out
    assert "game: You are in the kitchen." in told
    assert "planner: solved" in told
    assert "models included: nano, nano_early, nano_worlds, nano_edit," in told
    assert "`pddlego doctor MODEL`" in told
    assert "missing  vLLM:" in told
    assert "make serving" in told
    assert ("ok       GPU: 2 from NVIDIA, with 24.0 GB each" in told) == bool(count)
    assert ("missing  GPU: no NVIDIA GPU" in told) == (not count)


@pytest.mark.parametrize(
    ("model", "gpus", "memory", "line"),
    [
        ("qwen3_8b", 0, 0, "16.4 GB, for 1 NVIDIA GPUs, of which this machine has 0"),
        ("qwen3_8b", 1, 80, "16.4 GB"),
        ("qwen3_8b", 1, 12, "16.4 GB, more than the GPU has: 12.0 GB"),
        ("llama33_70b", 4, 24, "141.1 GB, more than 4 GPUs have: 96.0 GB"),
        ("smollm2", 0, 0, "540.0 MB"),
    ],
)
def test_the_size_of_the_weights_is_compared_with_the_gpus(
    pddlego: Pddlego,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    gpus: int,
    memory: int,
    line: str,
) -> None:
    plant_gpus(monkeypatch, gpus, memory * GB)
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    lines = pddlego("doctor", model, code=1).out.splitlines()  # its files are not here
    assert lines[1].strip().startswith(f"weights: {line}")
    assert "make fetch MODEL=" in lines[2]


def test_a_folder_is_here_and_has_a_size(pddlego: Pddlego, tmp_path: Path) -> None:
    folder = make_random_llama(tmp_path / "tiny", seed=0)
    size = (folder / "model.safetensors").stat().st_size
    told = pddlego("doctor", folder).out
    assert f"weights: {size / 1e6:.1f} MB" in told
    assert f"files: {folder}" in told


def test_weights_that_do_not_fit_are_an_answer_of_no(
    pddlego: Pddlego, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_random_llama(tmp_path / "tiny", seed=0)
    plant_gpus(monkeypatch, 1, 1_000_000)
    told = pddlego("doctor", folder, code=1).out
    assert "more than the GPU has: 1.0 MB" in told


def test_what_needs_no_weights(pddlego: Pddlego) -> None:
    assert pddlego("doctor", "reference", "random").out.count("needs no weights") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["no_such_model"],
            "there is no model=no_such_model; give a name from `pddlego doctor`",
        ),
        (["./nowhere"], "there is no folder nowhere"),
        (["vllm"], "model.weights"),
    ],
)
def test_mistakes_are_told_in_one_sentence(
    pddlego: Pddlego, arguments: list[str], said: str
) -> None:
    told = "".join(pddlego("doctor", *arguments, code=2))
    assert said in told
    assert len(told.splitlines()) == 1


def test_a_name_that_no_yaml_has(pddlego: Pddlego) -> None:
    told = pddlego("doctor", "maker/model", code=1).out
    assert "of unknown size" in told
    assert "`make fetch MODEL=maker/model`" in told
