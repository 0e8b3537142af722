"""The rows and the declared verdicts of docs/nano_edit.md come from the records that ship."""

import csv
import re
import tarfile
from pathlib import Path

import pytest

from pddlego_local.cli import run

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs/nano_edit.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nano_edit")
    with tarfile.open(ROOT / "docs/nano_edit/records.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    out = folder / "report"
    runs = str(folder / "nano_edit")
    assert run(["report", runs, "--out", str(out), "--without-pages"]) == 0
    return out


@pytest.mark.parametrize("environment", ["coin", "cooking_easy", "cooking_hard", "alfworld_unseen"])
def test_the_rows_come_from_the_records(environment: str, report: Path) -> None:
    with (report / "report.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["environment"] == environment]
    shown = re.search(rf"^\| .*`{environment}`.*$", DOCS, re.MULTILINE)
    assert shown and [row["decoding"] for row in rows] == ["free", "json", "typed", "grounded"]
    _, _, games, *cells = shown[0].split("|")
    for row, cell in zip(rows, cells, strict=False):
        told = [100 * float(row[f"success_{name}"]) for name in ("share", "low", "high")]
        assert cell.replace("*", "").strip() == "{:.1f} % [{:.0f}, {:.0f}]".format(*told)
        assert int(row["finished"]) - int(row["trivial"]) == int(games)
        assert row["seen_in_training"] == "0"


def test_the_verdicts_come_from_the_records(report: Path) -> None:
    verdicts = (report / "report.md").read_text(encoding="utf-8")
    told = re.findall(r"\*\*([+-].*?, p .*?)\*\*", DOCS)
    assert len(told) == 4 and all(verdict in verdicts for verdict in told)
