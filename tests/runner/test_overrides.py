"""Overrides as people write them: Hydra's sweeps, slips of spelling, and texts that
need quotes.
"""

from pathlib import Path
from typing import Any

import pytest

import pddlego_local
from pddlego_local.core.resources import folder
from pddlego_local.runner.config import compose_cell
from tests.pddlego import Pddlego
from tests.tables import table

CASES = table(__file__)

COMMON = ["model=reference", "environment=coin", "games=0-1"]
CHOICES = sorted(path.stem for path in (folder("conf") / "decoding").glob("*.yaml"))


def cells(pddlego: Pddlego, *words: str) -> list[str]:
    """The names of the cells that a sweep would play."""
    lines = pddlego("run", "-m", *COMMON, *words, "--dry-run").out.splitlines()
    return [line.split()[1] for line in lines if line.startswith("│ coin-")]


@pytest.mark.parametrize(
    ("word", "values"),
    [["decoding=glob(*)", CHOICES], *CASES["what_hydra_promises_of_sweeps"]],
)
def test_what_hydra_promises_of_sweeps(
    pddlego: Pddlego, word: str, values: list[str]
) -> None:
    part = 4 if word.startswith("seed") else 3
    found = [name.split("-")[part] for name in cells(pddlego, word)]
    assert (sorted(found) if "shuffle" in word else found) == values


@pytest.mark.parametrize(
    ("words", "said"),
    CASES["what_cannot_be_is_one_sentence_that_names_the_option"],
)
def test_what_cannot_be_is_one_sentence_that_names_the_option(
    pddlego: Pddlego, words: list[str], said: str
) -> None:
    told = pddlego("run", *words, "--dry-run", code=2).err
    assert said in told and told.count("error:") == told.count("\n") == 1


@pytest.mark.parametrize(
    ("word", "told"),
    CASES["unknown_words_are_told_with_what_is_near"],
)
def test_unknown_words_are_told_with_what_is_near(
    pddlego: Pddlego, word: str, told: str
) -> None:
    assert told in pddlego("run", *COMMON, word, "--dry-run", code=2).err


@pytest.mark.parametrize(
    "word",
    [
        *("run.out=~/x", 'run.out="~/x"', "run.out='~/x'", "environment.folder=~/x"),
        *("environment.data=~/x", "model.weights=~/x", "model.server.logs=~/x/y"),
        *("model.server.env=~/x", "+environment.mine=~/x"),
    ],
)
def test_the_home_folder(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    groups = {"folder": "described", "data": "alfworld_real"}
    key, _, _ = word.lstrip("+").partition("=")
    environment = groups.get(key.rpartition(".")[2], "coin")
    chosen = ["model=vllm", "model.weights=x", f"environment={environment}"]
    config = compose_cell([*chosen, word])
    found: Any = config.tree
    for part in key.split("."):
        found = found[part]
    assert str(found).startswith("/home/somebody/x")
    assert not str(config.folder).startswith("~")


def test_the_home_folder_elsewhere(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a variable, in a YAML file of one's own, in --config-dir, in --out and in
    Python.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ALFWORLD_DATA", "~/data")
    assert (
        compose_cell(["environment=alfworld_real"]).tree["environment"]["data"]
        == f"{tmp_path}/data"
    )
    (tmp_path / "own" / "experiment").mkdir(parents=True)
    own = "# @package _global_\nname: mine\nrun: {out: ~/records}\n"
    (tmp_path / "own" / "experiment" / "mine.yaml").write_text(own, "utf-8")
    words = (
        "--config-dir",
        "~/own",
        "experiment=mine",
        "games=7",
        "environment.rooms=3",
    )
    monkeypatch.chdir(tmp_path)
    pddlego("run", *words)
    assert (
        list((tmp_path / "records" / "mine").iterdir())
        and not (tmp_path / "~").exists()
    )
    pddlego("export", "~/records", "--out=~/calls.csv")
    assert (tmp_path / "calls.csv").exists() and len(pddlego_local.load("~/records"))


def test_a_mapping_whose_keys_are_free_takes_new_ones() -> None:
    config = compose_cell(["decoding=typed", "decoding.stage_tokens={types: 500}"])
    assert config.tree["decoding"]["stage_tokens"] == {"types": 500}
