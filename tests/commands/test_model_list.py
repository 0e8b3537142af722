"""The models that `pddlego doctor` lists, and what every model's YAML must tell."""

import re
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.commands.shared.fit import about_of
from pddlego_local.commands.shared.model_list import settings_of
from pddlego_local.models.memory import needs_told, room_of_gpus
from pddlego_local.runner.config import compose_cell
from tests.pddlego import Pddlego
from tools.model_facts import PUBLISHED, facts, page

ROOT = Path(__file__).parents[2]
PARSERS = {"qwen3", "deepseek_r1", "olmo3"}  # of vLLM's, those of models that we have
LICENCES = re.compile(
    r"Apache-2\.0|MIT( and Llama 3\.\d Community License)?|Llama 3\.\d Community"
    r" License"
    r"|Gemma Terms of Use"
)


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_a_published_model_tells_what_doctor_and_reports_need(path: Path) -> None:
    composed = compose_cell([f"model={path.stem}"])
    settings = composed.tree["model"]
    told = settings_of(path)
    told["server"]["logs"] = settings["server"][
        "logs"
    ]  # which the run's own settings fill in
    assert told == settings
    about = about_of(settings)
    assert about is not None
    assert LICENCES.fullmatch(about.licence)
    assert 1e8 < about.parameters < 2e11
    assert settings["context_tokens"] <= about.most_context_tokens
    assert about.sampling or about.thinking_sampling
    assert (about.windowed_layers > 0) == (about.window is not None)
    assert about.windowed_layers < about.layers
    composed.build("model")
    assert "about" not in composed.identity["model"]


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_each_fact_has_a_source_or_says_that_it_has_none(path: Path) -> None:
    assert (
        f"about:   # https://huggingface.co/{settings_of(path)['weights']}\n"
        in path.read_text(encoding="utf-8")
    )
    known = list(facts(path))
    assert {fact.name for fact in known} - {"thinking"} <= vars(
        about_of(settings_of(path))
    ).keys()
    for fact in known:
        assert fact.source or not fact.verified, fact


def test_the_page_of_sources_tells_what_the_yamls_say() -> None:
    assert (ROOT / "docs/maintain/model_facts.md").read_text(
        encoding="utf-8"
    ) == page(), "python -m tools.model_facts"


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_it_fits_the_80_gb_gpus_that_it_is_configured_for(path: Path) -> None:
    settings: dict[str, Any] = settings_of(path)
    about = about_of(settings)
    assert about is not None
    needs, tokens = needs_told(about, settings["dtype"]), settings["context_tokens"]
    configured = settings["server"]["tensor_parallel_size"]
    assert needs.answers(tokens, room_of_gpus(configured, 80 * 10**9)) >= 1
    assert (needs.fewest(tokens, 80 * 10**9) or 9) <= configured


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_a_model_that_thinks_names_its_markers_and_one_of_vllms_parsers(
    path: Path,
) -> None:
    settings = settings_of(path)
    about = about_of(settings)
    assert about is not None
    if habits := settings["thinking"]:
        assert habits["parser"] in PARSERS
        assert habits["start"] and habits["end"]
    assert bool(about.thinking_sampling) == bool(habits)
    assert bool(about.sampling) == (not habits or habits["switch"] is not None)


def test_fewer_bits_are_smaller_than_the_model_they_are_of() -> None:
    for path in PUBLISHED:
        about, base = about_of(settings_of(path)), path.stem.rpartition("_")[0]
        if path.stem.endswith(("_awq", "_fp8")):
            of = about_of(settings_of(path.with_stem(base)))
            assert about and of and about.weights_gb
            assert 0.2 * of.parameters < about.weights_gb * 1e9 < 1.2 * of.parameters


def rows(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch, gpus: int, memory: int = 0
) -> dict[str, list[str]]:
    for module in ("fit", "model_list"):
        monkeypatch.setattr(
            f"pddlego_local.commands.shared.{module}.gpu_count", lambda: gpus
        )
        monkeypatch.setattr(
            f"pddlego_local.commands.shared.{module}.gpu_memory", lambda: memory
        )
    told = pddlego("doctor").out
    cells = [re.split(r"\s*│\s*", line)[1:-1] for line in told.splitlines()]
    return {row[0]: row[1:] for row in cells if row}


def test_the_list_without_a_gpu(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    listed = rows(pddlego, monkeypatch, 0)
    assert {path.stem for path in PUBLISHED} | {"reference", "random"} <= listed.keys()
    assert listed["qwen3_8b"][:3] == ["8.2 B", "16.4 GB", "missing"]
    assert listed["qwen3_8b"][-2:] == ["Apache-2.0", "40,960 of 40,960"]
    assert listed["llama33_70b"][3:6] == ["8", "4", "4"]
    assert listed["reference"][2] == "ready"
    for ours in ("nano", "nano_early", "nano_vllm"):
        assert listed[ours][:3] == ["2 M", "0.01 GB", "ready"]
        assert listed[ours][-2:] == ["MIT", "4,096 of 4,096"]


def test_on_a_narrow_terminal_no_name_is_cut_and_what_is_left_out_is_told(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = pddlego("doctor").out
    told = told[told.index("┏") : told.index("`pddlego doctor MODEL`")]
    stems = {path.stem for path in (ROOT / "conf/model").glob("*.yaml")}
    named = {line.split()[1] for line in told.splitlines() if line.startswith("│")}
    assert stems - {"vllm", "transformers", "openai_server"} <= named
    assert "…" not in told and max(map(len, told.splitlines())) <= 80
    assert "Columns omitted because the terminal is narrow:" in told
