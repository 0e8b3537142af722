"""`pddlego run … --dry-run`: lists what a command would play, and loads and writes
nothing.
"""

import json
import re
from pathlib import Path

import pytest

from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.models.test_vllm_settings import H100, plant_gpus, serving_environment
from tests.pddlego import Pddlego
from tests.processes import ran

# What a run starts or loads, and a look ahead must not.
HEAVY = ("torch", "jpype", "py4j.java_gateway", "vllm")


def rows_of(told: str) -> list[list[str]]:
    """The columns of the table's lines, below its title."""
    rows = [re.split(r"\s*│\s*", line)[1:-1] for line in told.splitlines()]
    return [row for row in rows if row]


def test_a_sweeps_cells_and_episodes(tmp_path: Path, pddlego: Pddlego) -> None:
    out = tmp_path / "runs"
    words = "-m environment.rooms=3,5 trials=2 games=0-3,7 method=pddlego_plus,plangen"
    told = pddlego("run", *words.split(), f"run.out={out}", "--dry-run").out
    assert not out.exists()
    *rows, totals = rows_of(told)
    assert totals == ["cells: 4", "40", "0", "40"]
    for rooms in (3, 5):  # what differs stands below the name of a cell
        assert rows.count([f"environment.rooms={rooms}", "", "", ""]) == 2
    assert [row[1:] for row in rows[::2]] == [["10", "0", "10"]] * 4


def test_each_model_is_looked_at_once(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    words = "-m model=qwen3_8b,reference seed=0,1 games=0-1 --dry-run"
    sweep = ["run", *words.split(), f"run.out={tmp_path}"]
    pddlego(*sweep, "model.server.env=nowhere", code=2)
    told = pddlego(*sweep).out
    assert told.count("qwen3_8b: Qwen/Qwen3-8B, Apache-2.0") == 1
    assert told.count("reference: needs no weights") == 1
    assert "weights: 16.4 GB" in told
    assert "`make fetch MODEL=Qwen/Qwen3-8B`" in told


def test_what_is_done_is_not_left(tmp_path: Path, pddlego: Pddlego) -> None:
    common = [f"run.out={tmp_path}", "environment.rooms=3"]
    played = run_cell(compose_cell([*common, "games=0,1,9"]))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    first, _ = rows_of(pddlego("run", *common, "games=0-4", "--dry-run").out)
    assert first == [played.folder.name, "5", "2", "3"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_nothing_heavy_is_loaded_and_a_missing_gpu_is_no_hindrance(
    tmp_path: Path,
) -> None:
    program = (
        "import sys, json\n"
        "from pddlego_local.cli import run\n"
        "code = run(['run', *sys.argv[1:]])\n"
        f"print(json.dumps([code, [name for name in {HEAVY} if name in sys.modules]]))"
    )
    words = ["experiment=paper/fcrf", "model=qwen3_8b", "--dry-run"]
    done = ran("-c", program, *words, f"run.out={tmp_path}", check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []], done.stderr
    assert rows_of(done.stdout)[-1][0] == "cells: 2"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ("environment.rooms=12", "environment.rooms=12"),
        ("-m games=4294967296 seed=0,1", "its games are 0 to 2147483647"),
        ("-m seed=range(0,1000000000)", "more than 10,000 cells"),
    ],
)
def test_mistakes_are_told_as_by_the_run_itself(
    tmp_path: Path, pddlego: Pddlego, overrides: str, told: str
) -> None:
    words = ["run", *overrides.split(), f"run.out={tmp_path / 'out'}"]
    said = pddlego(*words, code=2).err
    assert pddlego(*words, "--dry-run", code=2).err == said
    assert told in said.replace("\n", "")


def test_what_batch_invariance_may_cost_is_said(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = serving_environment(tmp_path, "vllm", "0.32.0+cu130")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    plant_gpus(tmp_path, monkeypatch, H100)
    words = ["run", "model=qwen3_8b", f"model.server.env={env}", "games=0", "--dry-run"]
    lines = [line for line in pddlego(*words).out.splitlines() if "speed" in line]
    assert len(lines) == 1
    assert "model.server.batch_invariant=false turns it off" in lines[0]
    told = pddlego(*words, "model.server.batch_invariant=false").out
    assert "batch-invariant" not in told
