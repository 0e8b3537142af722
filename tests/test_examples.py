"""The examples, run as they stand; the environment and the method are in test_new_environment."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego_local.core.record.folder import read_rows

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def test_an_agent_of_ones_own_plays_each_game_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "play.py"), "3"], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
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
    cells = json.loads((EXAMPLES / "records.ipynb").read_text())["cells"]
    found: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), found)
    assert (tmp_path / "success.png").stat().st_size > 10_000
    rates = found["rates"]
    assert {"share", "low", "high"} <= set(rates.columns)  # type: ignore[attr-defined]


def test_the_sweep_on_slurm_is_played_by_submitits_local_executor(tmp_path: Path) -> None:
    """The command of its page, with another folder for the records."""
    page = (EXAMPLES / "slurm" / "README.md").read_text()
    (command,) = re.findall(r"^pddlego (run .*submitit_local(?:.*\\\n)?.*)$", page, re.MULTILINE)
    words = [*command.replace("\\\n", " ").split(), f"run.out={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "pddlego_local", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    rows = [read_rows(file) for file in tmp_path.glob("two_models/*/episodes.jsonl")]
    assert [len(cell) for cell in rows] == [2, 2]
    assert all(row.success for cell in rows for row in cell)


def test_each_example_is_listed_and_short() -> None:
    page = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.iterdir():
        assert path.name in ("README.md", "__pycache__") or path.name in page
    assert len((EXAMPLES / "lamp" / "lamp.py").read_text().splitlines()) <= 60
    assert len((EXAMPLES / "lamp" / "hopeful" / "method.py").read_text().splitlines()) <= 40
