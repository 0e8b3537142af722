"""The table and the verdicts in docs/described.md come from the records that ship."""

import csv
import re
from pathlib import Path

import pytest

from tests.report.shipped import report_shipped

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs/described.md").read_text(encoding="utf-8")
KNOWN, LARGER = "nano_described", "nano_described_larger"
COLUMNS = (  # of the docs' table, behind the arm
    (KNOWN, "blocksworld", "success"),
    (KNOWN, "logistics", "success"),
    (KNOWN, "logistics", "valid_but_wrong"),
    (LARGER, "blocksworld", "accepted"),
    (LARGER, "blocksworld", "success"),
    (LARGER, "blocksworld", "valid_but_wrong"),
    (LARGER, "logistics", "accepted"),
    (LARGER, "logistics", "success"),
    (LARGER, "logistics", "valid_but_wrong"),
)
SYNTAX = {  # what these arms are (conf/arm); the others are named by their rung
    "published_constrained": ("any", "False", "knowledge"),
    "domain_text": ("any", "True", "knowledge"),
    "brief": ("any", "True", "brief"),
    "syntax": ("line", "True", "brief"),
}
Cells = dict[tuple[str, str, str], dict[str, str]]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report of each sweep."""
    folder = tmp_path_factory.mktemp("quarrel")
    return report_shipped("quarrel/records.tar.xz", folder, KNOWN, LARGER)


def cells_of(reports: Path) -> Cells:
    """A row of the report by sweep, world and arm."""
    found = Cells()
    for name in (KNOWN, LARGER):
        with (reports / name / "report.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                told = dict(one.split("=") for one in row["settings"].split())
                arm = row["decoding"]
                if arm == "syntax" and name == KNOWN:
                    keys = ("decoding.layout", "method.shows_domain_text", "method.wording")
                    asked = tuple(told[key] for key in keys)
                    (arm,) = (one for one, settings in SYNTAX.items() if settings == asked)
                found[name, told["environment.world"], arm] = row
    return found


def test_the_table_comes_from_the_records(reports: Path) -> None:
    cells = cells_of(reports)
    shown = re.findall(r"^\| `(\w+)` \| (.*%.*) \|$", DOCS, re.MULTILINE)
    assert len(shown) == 9
    for arm, line in shown:
        told = []
        for name, world, what in COLUMNS:
            row = cells.get((name, world, arm))
            share = int(row[f"{what}_k"]) / int(row[f"{what}_n"]) if row else None
            told.append("" if share is None else f"{100 * share:.0f} %")
        assert [cell.strip() for cell in line.split("|")] == told, arm


def test_the_verdicts_are_the_reports(reports: Path) -> None:
    verdicts = "".join((reports / name / "report.md").read_text() for name in (KNOWN, LARGER))
    claims = re.findall(r"\*\*(no difference shown[^*]*)\*\*", DOCS)
    assert len(claims) == 2
    for claim in claims:
        assert claim in verdicts, claim
