"""`pddlego report`: the files of its comparisons."""

import csv
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.report.comparison_tables import comparisons_latex
from tests.planted import (
    FREE,
    GAMES,
    LOST,
    SYNTAX,
    compare,
    plant,
    wins,
)


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
    assert b"helps: +35 points" in files["report.md"]
    assert b"| from | to | verdict |" in files["report.md"]  # the rest is alike and stands above
    assert b"In all: environment coin, method pddlego_plus" in files["report.md"]
    (line,) = csv.DictReader(files["comparisons.csv"].decode().splitlines())
    assert float(line["difference"]) == pytest.approx(0.35)
    assert (line["base_value"], line["other_success_k"]) == ("free", "24")
    moved = list(csv.DictReader(files["transitions.csv"].decode().splitlines()))
    assert [(m["lost_by"], m["outcome"], m["pairs"]) for m in moved] == [
        ("base", LOST, "15"),
        ("other", LOST, "1"),
    ]


def test_latex_has_a_column_for_each_cell_and_no_bare_sign(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins(range(10), GAMES))
    plant(tmp_path, SYNTAX, outcomes=wins(range(1, 25), GAMES))
    lines = comparisons_latex(compare(tmp_path)).splitlines()
    columns = lines[1].removeprefix(r"\begin{tabular}{").removesuffix("}")
    assert set(columns) == {"l"}
    cells = [line.removesuffix(r" \\").split(" & ") for line in lines if line.endswith(r" \\")]
    assert {len(cell) for cell in cells} == {len(columns)} and len(cells) == 2
    assert (
        r"pddlego\_plus" in cells[1] and "+35" in cells[1] and r"25.0 \% $\to$ 60.0 \%" in cells[1]
    )


def test_only_what_was_asked_for_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rung in (FREE, SYNTAX):
        for model in ("random", "reference"):
            plant(tmp_path / "runs", rung, f"model={model}", outcomes=wins(range(3), GAMES))
    files = files_of(tmp_path / "runs", tmp_path / "out", "--compare", "model")
    rows = list(csv.DictReader(files["comparisons.csv"].decode().splitlines()))
    assert [row["factor"] for row in rows] == ["model", "model"]
    assert run(["report", str(tmp_path / "runs"), "--compare", "rung"]) == 2
    assert "decoding.rung, decoding.rung=free, decoding.rung=syntax" in capsys.readouterr().err
    assert len(compare(tmp_path / "runs", "decoding.rung=free", "model=random")) == 4
    assert len(compare(tmp_path / "runs", "decoding.rung=free")) == 2
