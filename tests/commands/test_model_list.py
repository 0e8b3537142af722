"""The models that `pddlego doctor` lists, and what every model's YAML must tell."""

import re
from pathlib import Path

import pytest

from pddlego_local.commands.shared.fit import about_of
from pddlego_local.commands.shared.model_list import settings_of
from pddlego_local.runner.config import compose_cell
from tests.pddlego import Pddlego

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "conf/model").glob("*.yaml"))
PUBLISHED = [path for path in CONFIGS if "/" in str(settings_of(path).get("weights"))]
# of vLLM's, those of models that we have
PARSERS = {"qwen3", "deepseek_r1", "olmo3", "gemma4", "mistral", "nemotron_v3", "glm45"}
LICENCES = re.compile(
    r"Apache-2\.0|MIT( and Llama 3\.\d Community License)?|Llama 3\.\d Community"
    r" License"
    r"|Gemma Terms of Use|NVIDIA Nemotron Open Model License"
)


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_a_published_model_says_what_doctor_and_runs_need(path: Path) -> None:
    settings = settings_of(path)
    about = about_of(settings)
    assert about is not None
    assert LICENCES.fullmatch(about.licence)
    assert 1e8 < about.parameters < 2e11
    gpus = settings["server"]["tensor_parallel_size"]
    assert about.weights_bytes(settings["dtype"]) < 0.9 * gpus * 80e9
    page = f"about:   # https://huggingface.co/{settings['weights']}\n"
    assert page in path.read_text(encoding="utf-8")
    if isinstance(habits := settings["thinking"], dict):
        assert habits["parser"] in PARSERS
        assert habits["start"]
        assert habits["end"]


def test_what_is_read_of_a_yaml_is_what_a_run_composes() -> None:
    composed = compose_cell(["model=qwen3_8b"])
    settings = composed.tree["model"]
    read = settings_of(ROOT / "conf/model/qwen3_8b.yaml")
    read["server"]["logs"] = settings["server"]["logs"]  # the run's own
    assert read == settings
    assert "about" not in composed.identity["model"]


def test_fewer_bits_are_smaller_than_the_model_they_are_of() -> None:
    for path in PUBLISHED:
        about, base = about_of(settings_of(path)), path.stem.rpartition("_")[0]
        if path.stem.endswith(("_awq", "_fp8")):
            of = about_of(settings_of(path.with_stem(base)))
            assert about
            assert of
            assert about.weights_gb
            assert 0.2 * of.parameters < about.weights_gb * 1e9 < 1.2 * of.parameters


def test_the_list(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lines = pddlego("doctor").out.splitlines()
    cells = [re.split(r"\s*│\s*", line)[1:-1] for line in lines]
    listed = {row[0]: row[1:] for row in cells if row}
    assert {path.stem for path in PUBLISHED} | {"reference", "random"} <= listed.keys()
    assert listed["qwen3_8b"] == ["16.4 GB", "missing", "Apache-2.0", "40,960"]
    assert listed["qwen3_8b_awq"][0] == "6.1 GB"
    assert listed["reference"][1] == "ready"
    for ours in ("nano", "nano_early", "nano_vllm"):
        assert listed[ours][1:3] == ["ready", "MIT"]


def test_on_a_narrow_terminal_no_name_is_cut_and_what_is_left_out_is_told(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = pddlego("doctor").out
    told = told[told.index("┏") : told.index("`pddlego doctor MODEL`")]
    stems = {path.stem for path in CONFIGS}
    named = {line.split()[1] for line in told.splitlines() if line.startswith("│")}
    assert stems - {"vllm", "transformers", "openai_server"} <= named
    assert "…" not in told
    assert max(map(len, told.splitlines())) <= 80
