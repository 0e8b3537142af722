"""`pddlego doctor`: one short table of models, what is ready first."""

import re
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.resources import folder

MODELS = sorted(path.stem for path in (folder("conf") / "model").glob("*.yaml"))


def rows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, gpus: int
) -> list[tuple[str, str]]:
    """What is said, with the models of which it is said; the table is the end of all."""
    for module in ("commands.doctor", "models.vllm.model", "models.transformers"):
        monkeypatch.setattr(f"pddlego_local.{module}.gpu_count", lambda: gpus)
    monkeypatch.setenv("COLUMNS", "400")
    assert run(["doctor"]) == 0
    table = capsys.readouterr().out.split("models\n")[-1]
    cells = [re.split(r"\s*│\s*", line)[1:3] for line in table.splitlines() if "│" in line]
    return [(words, stems) for stems, words in cells]


def test_a_machine_without_a_gpu_misses_no_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = rows(capsys, monkeypatch, 0)
    assert said[0][0] == "ready" and "reference" in said[0][1].split(", ")
    assert sorted(stem for _, stems in said for stem in stems.split(", ")) == MODELS
    told = dict(said)
    assert told["needs a GPU with 20 GB"] == "llama31_8b, qwen3_8b, r1_distill_llama_8b"
    assert told["needs 4 GPUs with 44 GB each"] == "llama33_70b, r1_distill_llama_70b"
    assert told["give model.run=…"] == "replay"
    assert not [words for words in told if words.startswith("missing") and "GPU" in words]
    assert len(said) <= 12


def test_a_machine_with_a_gpu_misses_the_weights(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("pddlego_local.models.vllm.model.serving_build", lambda env: ("cuda", "1"))
    said = rows(capsys, monkeypatch, 1)
    (words,) = [words for words, stems in said if stems == "qwen3_8b"]
    assert words.startswith("missing: The weights Qwen/Qwen3-8B") and "hf download" in words
    assert (
        "needs 2 GPUs with 40 GB each",
        "qwen25_32b, qwen25_coder_32b, qwen3_32b, r1_distill_qwen_32b",
    ) in said
    assert [words.split(":")[0].split()[0] for words, _ in said] == sorted(
        (words.split(":")[0].split()[0] for words, _ in said),
        key=["ready", "missing", "give", "needs"].index,
    )
