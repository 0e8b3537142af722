"""`pddlego report`: the files of its comparisons."""

import csv
from pathlib import Path

import pytest

from pddlego_local.cli import run
from tests.pddlego import Pddlego
from tests.planted import FREE, GAMES, SYNTAX, compare, plant, wins


def files_of(runs: Path, out: Path) -> dict[str, bytes]:
    assert run(["report", str(runs), "--out", str(out)]) == 0
    files = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def test_the_command_writes_the_same_bytes_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    plant(runs, FREE, outcomes=wins(range(10), GAMES))
    plant(runs, SYNTAX, outcomes=wins(range(1, 25), GAMES))
    files = files_of(runs, tmp_path / "out")
    assert "free → syntax" in capsys.readouterr().out
    assert files == files_of(runs, tmp_path / "again")
    report = files["report.md"].decode()
    assert "| +35 points (18 to 51), p < 0.001 |" in report
    assert "| from | to | on new maps |" in report
    assert "In all rows: environment coin, method pddlego_plus" in report
    assert report.startswith(
        "# Tested comparisons and verdicts\n\nTested comparisons (the default"
    )
    assert report.index("syntax wins more") < report.index("# Results")
    assert "wall s per success" not in report  # compares machines, not arms
    (line,) = csv.DictReader(files["comparisons.csv"].decode().splitlines())
    assert float(line["difference"]) == pytest.approx(0.35)
    assert line["base_value"] == "free"
    assert line["other_success_k"] == "24"


def test_an_experiment_declares_what_its_report_tests(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    """Its records tell it, and another wish makes no other cell."""
    words = "run -m model=reference decoding=free games=1 environment.rooms=3"
    sweep = [*words.split(), "method.max_retries=0,1", f"run.out={tmp_path}"]
    pddlego(*sweep, "compare=[{factor:method.max_retries,base:1,primary:true}]")
    records = list(tmp_path.rglob("run.json"))
    assert len(records) == 2
    (found,) = compare(tmp_path / "default")
    assert found.role == "primary"
    assert found.factor == "method.max_retries"
    assert found.base.value == "max_retries 1"
    pddlego(*sweep, "compare=[]")
    assert list(tmp_path.rglob("run.json")) == records
    assert compare(tmp_path / "default") == []
    told = pddlego(*sweep, "compare=[{factor:rung,base:free}]", code=2).err
    assert "compare.0.factor='rung': write method" in told.replace("\n", " ")
