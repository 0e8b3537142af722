"""The rows and the declared verdicts of docs/nano_edit.md come from the records that ship."""

import csv
import re
from pathlib import Path

import pytest

from tests.report.shipped import report_shipped

ROOT = Path(__file__).parents[2]
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
