"""The examples, run as they stand; the environment and the method are in
test_new_environment.
"""

import json
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pandas
import pytest

from pddlego_local.cli import run
from pddlego_local.core.record.folder import read_rows
from pddlego_local.environments.described.generated import generate
from tests.processes import ran

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def test_an_agent_of_ones_own_plays_each_game_to_its_end() -> None:
    lines = ran(EXAMPLES / "play.py", "3", check=True).stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.endswith((": success, reward 0.4", ": step_limit, reward 0.0"))


def test_the_notebooks_cells_load_records_and_draw_the_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Path("docs") / "results" / "sample" / "records.tar.xz"
    (tmp_path / archive).parent.mkdir(parents=True)
    shutil.copy(ROOT / archive, tmp_path / archive)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    cells = json.loads((EXAMPLES / "records.ipynb").read_text(encoding="utf-8"))[
        "cells"
    ]
    found: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), found)
    assert (tmp_path / "success.png").stat().st_size > 10_000
    rates = found["rates"]
    assert {"share", "low", "high"} <= set(rates.columns)  # type: ignore[attr-defined]


def test_rows_of_public_sets_become_worlds_and_the_others_are_counted(
    tmp_path: Path,
) -> None:
    """The worlds are ours, in the layout of Planetarium's table and of Text2World's
    list. The table is a parquet file if pyarrow is installed.
    """

    def converted(script: str, *paths: str) -> str:
        return ran(EXAMPLES / script, *paths, cwd=tmp_path, check=True).stdout

    world = generate("blocksworld", "moderately", (3, 3), 1)
    problem = world.problem.replace("(:objects", "(:requirements :strips) (:objects")
    (tmp_path / "domains").mkdir()
    (tmp_path / "domains" / "blocks.pddl").write_text(world.domain, encoding="utf-8")
    row = {
        "id": 1,
        "domain": "blocks",
        "natural_language": world.problem_text,
        "split": 0,
    }
    row |= {"problem_pddl": problem, "init_is_abstract": 0, "goal_is_abstract": 0}
    others = {"domain": "x"}, {"natural_language": None}, {"goal_is_abstract": 1}
    faulty = {"problem_pddl": problem.replace("(clear", "(free", 1)}
    table = pandas.DataFrame(
        [row, *({**row, "id": 2, **each} for each in (*others, faulty))]
    )
    if find_spec("pyarrow"):
        table.to_parquet(tmp_path / (rows := "rows.parquet"))
    else:
        table.to_json(tmp_path / (rows := "rows.jsonl"), orient="records", lines=True)
    told = converted("planetarium.py", rows, "domains", "worlds")
    for said in (
        "1 of 5",
        "unknown domain",
        "_language is empty",
        "abstract",
        "predicate `free`",
    ):
        assert said in told
    row = {
        "id": 7,
        "pddl_domain": world.domain,
        "corrected_description": "### General\nBlocks.",
    }
    (tmp_path / "rows.json").write_text(
        json.dumps([row, {**row, "pddl_domain": "(define"}]), encoding="utf-8"
    )
    assert "1 of 2 rows converted\n1 left out" in converted(
        "text2world.py", "rows.json", "texts"
    )
    worlds, text = (
        tmp_path / "worlds" / "blocks",
        tmp_path / "texts" / "007_blocksworld",
    )
    for ending in (".pddl", "_problem.txt"):  # a problem of one's own makes it a world
        shutil.copy(worlds / f"p000001{ending}", text / f"p01{ending}")
    for folder in (worlds, text):
        words = [
            "environment=described",
            f"environment.folder={folder}",
            "method=formalizer",
        ]
        assert (
            run(
                [
                    "run",
                    *words,
                    "model=reference",
                    "games=0",
                    f"run.out={folder / 'run'}",
                ]
            )
            == 0
        )
        (played,) = map(read_rows, folder.glob("run/*/*/episodes.jsonl"))
        assert [each.success for each in played] == [True]


def test_the_sweep_on_slurm_is_played_by_submitits_local_executor(
    tmp_path: Path,
) -> None:
    """The command of its page, with another folder for the records."""
    page = (EXAMPLES / "slurm" / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(
        r"^pddlego (run .*submitit_local(?:.*\\\n)?.*)$", page, re.MULTILINE
    )
    words = [*command.replace("\\\n", " ").split(), f"run.out={tmp_path}"]
    done = ran("-m", "pddlego_local", *words, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    rows = [read_rows(file) for file in tmp_path.glob("two_models/*/episodes.jsonl")]
    assert [len(cell) for cell in rows] == [2, 2]
    assert all(row.success for cell in rows for row in cell)


def test_each_example_is_listed() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in EXAMPLES.iterdir():
        assert path.name in ("README.md", "__pycache__") or path.name in page
