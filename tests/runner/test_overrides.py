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

COMMON = ["model=reference", "environment=coin", "games=0-1"]
CHOICES = sorted(path.stem for path in (folder("conf") / "decoding").glob("*.yaml"))


def cells(pddlego: Pddlego, *words: str) -> list[str]:
    """The names of the cells that a sweep would play."""
    lines = pddlego("run", "-m", *COMMON, *words, "--dry-run").out.splitlines()
    return [line.split()[1] for line in lines if line.startswith("│ coin-")]


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("decoding=glob(*)", CHOICES),
        ("decoding=glob([f*,t*],exclude=*_*)", ["free", "typed"]),
        ("decoding=choice(typed,free)", ["typed", "free"]),
        ("decoding=free,free", ["free"]),
        ("seed=range(2,5,2)", ["s2", "s4"]),
        ("seed=shuffle(range(0,3))", ["s0", "s1", "s2"]),
        ("seed=1,01,1.0", ["s1"]),
        ("seed=1.0,2,02", ["s1", "s2"]),
    ],
)
def test_what_hydra_promises_of_sweeps(
    pddlego: Pddlego, word: str, values: list[str]
) -> None:
    part = 4 if word.startswith("seed") else 3
    found = [name.split("-")[part] for name in cells(pddlego, word)]
    assert (sorted(found) if "shuffle" in word else found) == values


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-m", "seed=interval(0,3)"], "seed=range(START,STOP,STEP)"),
        (
            ["-m", "method=glob(nothing*)"],
            "method=glob(nothing*): this sweep has no value",
        ),
        (["-m", "seed=glob(*)"], "seed=glob(*): this sweep has no value"),
        (["-m", "seed=range(0,3,0)"], "seed=range(0,3,0): range() arg 3"),
        (["-m", "seed=rnge(1,3)"], "Unknown function 'rnge'"),
        (["-m", "seed=choice()"], "empty choice is not legal"),
        (["environment=[coin,alfworld]"], "environment=[coin,alfworld]: choose one"),
        (["seed=1,2"], "seed=1,2: several values are a sweep, which needs -m"),
        (
            ["name=a#b"],
            """name=a#b: Hydra cannot parse this value (token recognition error at""",
        ),
        (["name=a#b"], """quote it: 'name="a#b"'"""),
        (["model.weights=/x/(y)", "model=vllm"], """'model.weights="/x/(y)"'"""),
        (["seed"], "seed: this is not an override; write OPTION=VALUE"),
        (["=5"], "=5: this is not an override"),
        (["~environment"], "environment: must be given"),
        (["rooms=5"], "there is no option 'rooms'; did you mean environment.rooms?"),
        (["-m", "rooms=5,7"], "did you mean environment.rooms?"),
        (["temprature=0"], "did you mean decoding.temperature?"),
        (["model=vllm", "url=x"], "did you mean model.server.url?"),
        (["xyzzy=1"], "there is no option 'xyzzy'.\n"),
        (["method=PDDLego+"], "there is no such choice; did you mean pddlego_plus?"),
        (["-m", "method=plangen,PDDL-edits"], "did you mean pddl_edit?"),
        (
            ["model=Qwen/Qwen3-8B"],
            "model=vllm model.weights=Qwen/Qwen3-8B, and model=qwen3_8b has",
        ),
        (["model=/tmp"], "model=vllm model.weights=/tmp. The choices are"),
        (["model=tiny.gguf"], "model=vllm model.weights=tiny.gguf"),
        (["experiment=paper_deps"], "did you mean paper/deps?"),
        (["hydra/launcher=submitit"], "did you mean submitit_slurm?"),
    ],
)
def test_what_cannot_be_is_one_sentence_that_names_the_option(
    pddlego: Pddlego, words: list[str], said: str
) -> None:
    told = pddlego("run", *words, "--dry-run", code=2).err
    assert said in told and told.count("error:") == told.count("\n") == 1


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (
            "planner.limits={cpu: 5}",
            "no option 'planner.limits.cpu'; did you mean planner.limits.cpu_s?",
        ),
        (
            "planner.limits={xyz: 5}",
            "the options of planner.limits are cpu_s, wall_s, memory_mb",
        ),
        ("planner={limits: {wall: 5}}", "did you mean planner.limits.wall_s?"),
        ("decoding.stage_tokens.types=5", "+decoding.stage_tokens.types="),
        (
            "environment.rooms=5\r",
            "environment.rooms=5: this word ends with a carriage return",
        ),
        ("model.server={url: x}", "there is no option 'model.server'"),
    ],
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
