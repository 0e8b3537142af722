"""The first row and the first verdict of docs/alfworld.md come from the records that ship."""

import csv
import re
import tarfile
from pathlib import Path

import pytest

from pddlego_local.cli import run

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs/alfworld.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alfworld")
    with tarfile.open(ROOT / "docs/alfworld/records.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    out = folder / "report"
    runs = str(folder / "nano_alfworld")
    assert run(["report", runs, "--with-seen", "--out", str(out), "--without-pages"]) == 0
    return out


def test_the_row_of_our_own_games_comes_from_the_records(report: Path) -> None:
    with (report / "report.csv").open(newline="") as file:
        cells = {row["decoding"]: row for row in csv.DictReader(file)}
    shown = re.search(r"^\| our own, .*$", DOCS, re.MULTILINE)
    assert shown and list(cells) == ["free", "json", "typed", "grounded"]
    rates = re.findall(r"([\d.]+) %(?:\**) ?(?:\[(\d+), (\d+)\])?", shown[0])
    for row, (rate, low, high) in zip(cells.values(), rates[:4], strict=True):
        assert f"{100 * float(row['success_share']):.1f}" == rate and row["finished"] == "300"
        told = [f"{100 * float(row[f'success_{end}']):.0f}" for end in ("low", "high")]
        assert not low or told == [low, high]
        assert row["seen_in_training"] == "0"


def test_the_verdict_comes_from_the_records(report: Path) -> None:
    assert "+13 points (6 to 22), p = 0.031" in (report / "report.md").read_text(encoding="utf-8")
    assert "**+13 points (6 to 22), p = 0.031**" in DOCS
