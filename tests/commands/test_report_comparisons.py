"""`pddlego report`: the files of its comparisons."""

import csv
from pathlib import Path

import pytest

from pddlego_local.cli import run
from tests.pddlego import Pddlego
from tests.planted import FREE, GAMES, SYNTAX, compare, declare, plant, wins


def files_of(runs: Path, out: Path, *options: str) -> dict[str, bytes]:
    assert run(["report", str(runs), "--out", str(out), *options]) == 0
    files = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def test_the_command_writes_the_same_bytes_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path / "runs", FREE, outcomes=wins(range(10), GAMES))
    plant(tmp_path / "runs", SYNTAX, outcomes=wins(range(1, 25), GAMES))
    files = files_of(tmp_path / "runs", tmp_path / "out")
    assert "free → syntax" in capsys.readouterr().out
    assert files == files_of(tmp_path / "runs", tmp_path / "again")
    assert b"| +35 points (18 to 51), p < 0.001 |" in files["report.md"]
    assert b"| from | to | on new maps |" in files["report.md"]
    assert b"In all rows: environment coin, method pddlego_plus" in files["report.md"]
    assert files["report.md"].startswith(
        b"# Tested comparisons and verdicts\n\nTested comparisons (the default"
    )
    assert files["report.md"].index(b"syntax wins more") < files["report.md"].index(
        b"# Results"
    )
    assert (
        b"wall s per success" not in files["report.md"]
    )  # compares machines, not arms
    (line,) = csv.DictReader(files["comparisons.csv"].decode().splitlines())
    assert float(line["difference"]) == pytest.approx(0.35)
    assert (line["base_value"], line["other_success_k"]) == ("free", "24")


def test_only_what_was_asked_for_is_tested(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for rung in (FREE, SYNTAX):
        for model in ("random", "nano"):
            plant(runs, rung, f"model={model}", outcomes=wins(range(3), GAMES))
    assert len(compare(runs, "decoding.rung=free", "model=random")) == 4
    assert len(compare(runs, "decoding.rung=free")) == 2
    declare(runs, "model=random:nano")
    files = files_of(runs, tmp_path / "out")
    rows = list(csv.DictReader(files["comparisons.csv"].decode().splitlines()))
    assert [(row["factor"], row["base_value"], row["p"] != "") for row in rows] == [
        ("model", "random", True),
        ("model", "random", True),
        ("decoding.rung", "free", False),
        ("decoding.rung", "free", False),
    ]
    assert b"Tested comparisons (declared by the experiment)" in files["report.md"]


def test_an_experiment_declares_what_its_report_tests(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    """Its records tell it, and another wish makes no other cell."""
    declared = "compare=[{factor:method.max_retries,base:1,primary:true}]"
    sweep = [
        "run",
        "-m",
        "model=reference",
        "decoding=free",
        "games=1",
        "environment.rooms=3",
    ]
    sweep += ["method.max_retries=0,1", f"run.out={tmp_path}"]
    pddlego(*sweep, declared)
    assert len(list(tmp_path.rglob("run.json"))) == 2
    (found,) = compare(tmp_path / "default")
    assert (found.role, found.factor) == ("primary", "method.max_retries")
    assert found.base.value == "max_retries 1"
    pddlego(*sweep, "compare=[]")
    assert (
        len(list(tmp_path.rglob("run.json"))) == 2
        and compare(tmp_path / "default") == []
    )
    told = pddlego(*sweep, "compare=[{factor:rung,base:free}]", code=2).err
    assert "compare.0.factor='rung': write method" in told.replace("\n", " ")
