"""What docs/decoding.md says of weighted draws in whole games comes from the records that ship."""

import csv
import re
from pathlib import Path

import pytest

from tests.report.shipped import report_shipped

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/decoding.md").read_text(encoding="utf-8")
ARMS = {
    "one masked": ("grounded", "decoding.best_of=1"),
    "four free": ("free", "decoding.best_of=4"),
    "four masked": ("grounded", "decoding.best_of=4"),
    "four weighted": ("grounded", "decoding.draw=weighted decoding.particles=4"),
}
Rows = dict[tuple[str, str, str, str], dict[str, str]]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weighted")
    return report_shipped("weighted/records.tar.xz", folder, "weighted") / "weighted"


@pytest.fixture(scope="module")
def rows(reports: Path) -> Rows:
    """By model, temperature, rooms and arm; each has its own name in the report."""
    found: Rows = {}
    with (reports / "report.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            settings = row["settings"]
            (arm,) = (
                name
                for name, (rung, setting) in ARMS.items()
                if row["decoding"] == rung
                and setting in settings
                and (name == "four weighted") == ("weighted" in settings)
            )
            where = re.findall(r"(?:temperature|rooms)=(\S+)", settings)
            key = (row["model"].removesuffix("_vllm"), *where, arm)
            assert key not in found and row["finished"] == row["asked"] == "130"
            found[key] = row
    assert len(found) == 32
    return found


def test_the_rows_come_from_the_records(rows: Rows) -> None:
    shown = re.findall(
        r"^\| `(nano\w*)` \| ([\d.]+) \| (\d) \| (\d+) \| (.*) \|$", PAGE, re.MULTILINE
    )
    assert len(shown) == 8
    for model, temperature, rooms, games, cells in shown:
        for arm, cell in zip(ARMS, cells.split(" | "), strict=True):
            row = rows[model, temperature, rooms, arm]
            told = [100 * float(row[f"success_{name}"]) for name in ("share", "low", "high")]
            assert cell == "{:.1f} % [{:.0f}, {:.0f}]".format(*told)
            assert row["success_n"] == games


def test_what_it_cost_comes_from_the_records(rows: Rows) -> None:
    """Of the games that count, of 7 rooms at temperature 1."""
    for kind in ("sampled", "prompt"):
        for model in ("nano_early", "nano"):
            words = {"sampled": "tokens sampled", "prompt": "tokens read"}[kind]
            shown = re.search(rf"^\| `{model}`, {words} \| (.*) \|$", PAGE, re.MULTILINE)
            assert shown
            means = [float(rows[model, "1", "7", arm][f"{kind}_tokens_mean"]) for arm in ARMS]
            assert shown[1].split(" | ") == [f"{mean:,.0f}" for mean in means]


def test_the_verdicts_come_from_the_records(reports: Path) -> None:
    said = (reports / "report.md").read_text(encoding="utf-8")
    section = PAGE[PAGE.index("**In whole games**") :]
    told = re.findall(r"\*\*([+-]\d+ points.*?)\*\*", section)
    assert len(told) == 16 and all(verdict in said for verdict in told)
