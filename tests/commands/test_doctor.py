"""`pddlego doctor`: what is installed; and of a model, whether it fits and whether it
is here.
"""

import json
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


def test_the_installation(pddlego: Pddlego) -> None:
    told = pddlego("doctor").out
    assert "game: You are in the kitchen." in told and "planner: solved" in told
    assert (
        "models included: nano, nano_early, nano_worlds, nano_edit,"
        " nano_edit_early" in told
    )
    assert "qwen3_8b" in told and "`pddlego doctor MODEL`" in told


@pytest.mark.parametrize("count", [0, 2])
def test_it_says_whether_there_are_gpus_and_something_to_serve_with(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int
) -> None:
    monkeypatch.setattr("pddlego_local.commands.doctor.gpu_count", lambda: count)
    monkeypatch.setattr("pddlego_local.commands.doctor.gpu_memory", lambda: 24 * GB)
    monkeypatch.chdir(tmp_path)  # there is no .venv-serving
    told = pddlego("doctor").out
    assert "missing  vLLM:" in told and "make serving" in told
    assert ("ok       GPU: 2 from NVIDIA, with 24 GB each" in told) == bool(count)
    assert ("missing  GPU: no NVIDIA GPU" in told) == (not count)


def test_without_a_gpu(pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_gpus(monkeypatch, 0, 0)
    told = pddlego("doctor", "qwen3_8b", code=1).out
    assert (
        "needs     16.4 GB for its weights, and 6.0 GB for the cache of an answer"
        in told
    )
    assert "NVIDIA GPUs of this machine: 0 of the 1 needed: does not fit" in told
    assert "`make fetch MODEL=qwen3_8b`" in told


def test_a_gpu_that_holds_it_and_some_of_the_answers(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_gpus(monkeypatch, 1, 80 * GB)
    told = pddlego(
        "doctor", "llama31_8b", "--context", "32768", code=1
    ).out  # it is not here
    # 72 GB of 80 are the server's; 16.06 are weights, 2.5 reserve, 4.295 an answer's
    # cache
    assert "room      a GPU with 80.0 GB: fits (answers at once: 12)" in told


def test_a_gpu_that_is_too_small_and_a_way_out(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_gpus(monkeypatch, 1, 24 * GB)
    told = pddlego("doctor", "qwen3_8b", code=1).out
    assert "a GPU with 24.0 GB: does not fit, try model.context_tokens=18000" in told
    shorter = pddlego("doctor", "qwen3_8b", "--context", "18000", code=1)
    assert "(answers at once: 1)" in shorter.out
    larger = pddlego("doctor", "llama33_70b", code=1)
    assert "NVIDIA GPUs of this machine: 1 of the 4" in larger.out


def test_another_machines_gpus(pddlego: Pddlego) -> None:
    for count, said in (8, "fits (answers at once: 1)"), (2, "does not fit\n"):
        words = ["llama33_70b", "--gpus", count, "--gpu-memory", 24]
        assert (
            f"{count} GPUs with 24.0 GB: {said}"
            in pddlego("doctor", *words, code=1).out
        )


def test_a_folder_tells_its_own_size_and_is_here(
    pddlego: Pddlego, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_gpus(monkeypatch, 1, 8 * GB)
    folder = make_random_llama(tmp_path / "tiny", seed=0)
    told = pddlego("doctor", folder).out
    assert f"files     {folder}" in told
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert f"of an answer of {config['max_position_embeddings']:,} tokens" in told
    (folder / "config.json").write_text("{}", encoding="utf-8")
    assert "does not state the model's shape" in "".join(
        pddlego("doctor", folder, code=1)
    )


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
        (["qwen3_8b", "--context", "0"], "--context 0"),
        (["qwen3_8b", "--context", "50000"], "supports 40960 tokens at most"),
        (["qwen3_8b", "--gpu-memory", "-1"], "--gpu-memory -1"),
        (["vllm"], "model.weights"),
        (["--gpu-memory", "24"], "need the name of a MODEL"),
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
    assert "of unknown size" in told and "`make fetch MODEL=maker/model`" in told
