"""The records of docs/sample: rows come again from transcripts, the report byte by byte."""

import tarfile
from pathlib import Path

import pytest

from pddlego_local.cli import run

SAMPLE = Path(__file__).parent.parent.parent / "docs/sample"
REPORT = ("report.md", "papers.md")  # no last digits of another machine


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    with tarfile.open(SAMPLE / "records.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "sample"


def test_rescoring_finds_no_difference(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rescore", str(records)]) == 0
    assert "no difference in 1050 episodes of 21 cells" in capsys.readouterr().out


def test_the_report_is_the_one_that_is_shown(records: Path, tmp_path: Path) -> None:
    assert run(["report", str(records), "--out", str(tmp_path), "--without-pages"]) == 0
    for name in REPORT:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name
