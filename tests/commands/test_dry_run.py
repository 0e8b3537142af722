"""`pddlego run … --dry-run`: lists what a command would play, and loads and writes
nothing.
"""

import json
import re
from pathlib import Path

import pytest

from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.pddlego import Pddlego
from tests.processes import ran

# What a run starts or loads, and a look ahead must not.
HEAVY = ("torch", "jpype", "py4j.java_gateway", "vllm")


def lines(table: str) -> list[tuple[str, ...]]:
    """The cells' rows and the totals: name, what differs, then the three numbers."""
    split = [
        re.split(r"\s*│\s*", line)[1:-1] for line in table.splitlines() if "│" in line
    ]
    rows = list[tuple[str, ...]]()
    for name, *numbers in split:
        if numbers[0]:
            rows.append((name, "", *numbers))
        else:  # what differs stands below the name
            rows[-1] = (rows[-1][0], name, *rows[-1][2:])
    return rows


def test_a_sweeps_cells_and_episodes(tmp_path: Path, pddlego: Pddlego) -> None:
    out = tmp_path / "runs"
    sweep = ["-m", f"run.out={out}", "environment.rooms=3,5", "trials=2", "games=0-3,7"]
    sweep += ["method=pddlego_plus,plangen", "decoding.best_of=2"]
    rows = lines(pddlego("run", *sweep, "--dry-run").out)
    assert not out.exists()
    assert [row[1] for row in rows[:-1]] == ["environment.rooms=3"] * 2 + [
        "environment.rooms=5"
    ] * 2
    assert [row[2:] for row in rows[:-1]] == [("10", "0", "10")] * 4
    assert rows[-1] == ("cells: 4", "", "40", "0", "40")


def test_each_model_is_looked_at_once(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    sweep = [
        "-m",
        f"run.out={tmp_path}",
        "model=qwen3_8b,reference",
        "seed=0,1",
        "games=0-1",
    ]
    pddlego("run", *sweep, "model.server.env=nowhere", "--dry-run", code=2)
    told = pddlego("run", *sweep, "--dry-run").out
    assert told.count("qwen3_8b: Qwen/Qwen3-8B, Apache-2.0") == 1
    assert told.count("reference: needs no weights") == 1
    assert "weights: 16.4 GB" in told
    assert "`make fetch MODEL=Qwen/Qwen3-8B`" in told


def test_what_is_done_is_not_left(tmp_path: Path, pddlego: Pddlego) -> None:
    common = [f"run.out={tmp_path}", "environment.rooms=3"]
    played = run_cell(compose_cell([*common, "games=0,1,9"]))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    rows = lines(pddlego("run", *common, "games=0-4", "--dry-run").out)
    assert rows[0] == (played.folder.name, "", "5", "2", "3")
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
    wanted = [
        "experiment=workstation_trials",
        "model=qwen3_8b",
        "--dry-run",
        f"run.out={tmp_path}",
    ]
    done = ran("-c", program, *wanted, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []], done.stderr
    assert len(lines(done.stdout)) == 1 + 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["environment.rooms=12"], "environment.rooms=12"),
        (["-m", "environment.rooms=5,12"], "environment.rooms=12"),
        (["games=0-2;7"], "games='0-2;7'"),
        (["-m", "games=4294967296", "seed=0,1"], "its games are 0 to 2147483647"),
        (["nonsense=1"], "nonsense"),
    ],
)
def test_mistakes_are_told_as_by_the_run_itself(
    tmp_path: Path, pddlego: Pddlego, overrides: list[str], told: str
) -> None:
    words = ["run", *overrides, f"run.out={tmp_path / 'out'}"]
    said, said_ahead = (
        pddlego(*words, code=2).err,
        pddlego(*words, "--dry-run", code=2).err,
    )
    assert said == said_ahead
    assert told in said.replace("\n", "")


def test_a_sweep_of_too_many_cells_is_refused_before_they_are_listed(
    pddlego: Pddlego,
) -> None:
    for words in (
        ["seed=range(0,1000000000)"],
        ["seed=range(0,999)", "environment.rooms=3,5,7,9,11,13,15,17,19,21,23"],
    ):
        for dry in ([], ["--dry-run"]):
            told = pddlego("run", "-m", "model=reference", *words, *dry, code=2).err
            assert "more than 10,000 cells" in told
