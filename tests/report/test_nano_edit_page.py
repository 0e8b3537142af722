"""The rows and the declared verdicts of docs/nano_edit.md come from the records that ship."""

import csv
import re
from pathlib import Path

import pytest
from scipy.stats import binomtest

from pddlego_local.cli import run
from pddlego_local.core.record.folder import read_rows
from tests.report.shipped import report_shipped

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = (ROOT / "docs/nano_edit.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report on each of the two sweeps."""
    folder = tmp_path_factory.mktemp("nano_edit")
    seen = ("--with-seen",)  # none is: the rows say so
    report_shipped("nano_edit/records.tar.xz", folder, "nano_edit", options=seen)
    early = "nano_edit/early_records.tar.xz"
    return report_shipped(early, folder, "nano_edit_early", options=seen)


@pytest.mark.parametrize(
    ("sweep", "environment"),
    [
        *[("nano_edit", name) for name in ("coin", "cooking_easy", "cooking_hard")],
        *[("nano_edit", "alfworld_unseen"), ("nano_edit_early", "alfworld_unseen")],
    ],
)
def test_the_rows_come_from_the_records(sweep: str, environment: str, reports: Path) -> None:
    with (reports / sweep / "report.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["environment"] == environment]
    shown = re.search(rf"^\| `{sweep}`, `{environment}`.*$", DOCS, re.MULTILINE)
    assert shown and [row["decoding"] for row in rows] == ["free", "json", "typed", "grounded"]
    _, _, games, *cells = shown[0].split("|")
    for row, cell in zip(rows, cells, strict=False):
        told = [100 * float(row[f"success_{name}"]) for name in ("share", "low", "high")]
        assert cell.replace("*", "").strip() == "{:.1f} % [{:.0f}, {:.0f}]".format(*told)
        assert int(row["finished"]) - int(row["trivial"]) == int(games)
        assert row["seen_in_training"] == "0"


def test_the_verdicts_come_from_the_records(reports: Path) -> None:
    found = [file.read_text(encoding="utf-8") for file in reports.glob("*/report.md")]
    told = re.findall(r"\*\*([+-].*?, p .*?)\*\*", DOCS)
    assert len(told) == 6 and all(verdict in "".join(found) for verdict in told)


def test_the_rows_of_the_real_unseen_rooms_come_from_the_records(tmp_path: Path) -> None:
    records = ROOT / "docs/nano_edit/valid_unseen"
    out = str(tmp_path)
    assert run(["report", str(records), "--out", out, "--without-pages"]) == 0
    with (tmp_path / "report.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    shown = re.search(r"^\| `nano_edit`, real ALFWorld, valid_unseen.*$", DOCS, re.MULTILINE)
    assert shown
    cells = [cell.replace("*", "").strip() for cell in shown[0].split("|")[2:-1] if cell.strip()]
    assert cells[0] == "134"
    for row, cell in zip(rows, cells[1:], strict=True):
        shares = [100 * float(row[f"success_{name}"]) for name in ("share", "low", "high")]
        assert cell == "{:.1f} % [{:.0f}, {:.0f}]".format(*shares)
        assert f"{shares[0]:.1f} %" in README
        assert row["seen_in_training"] == "0"
    won = [
        {row.game for row in read_rows(records / rung / "episodes.jsonl") if row.won}
        for rung in ("free", "grounded")
    ]
    gained, lost = len(won[1] - won[0]), len(won[0] - won[1])
    p = binomtest(gained, gained + lost).pvalue
    assert f"(+{gained} −{lost} games, p = {p:.2f})" in README  # noqa: RUF001 (a minus)
    assert "| real ALFWorld, valid_unseen | +4 points (-3 to 14), p = 1.00 | 14 points |" in DOCS
    verdict = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "+4 points (-3 to 14), p = 1.00; n = 134 games on 4 maps could have shown 14" in verdict
