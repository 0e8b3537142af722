"""The sample sweep ships with its report, which its records give again."""

import tarfile
from pathlib import Path

import pytest

from tests.pddlego import Pddlego

SAMPLE = Path(__file__).parents[2] / "docs/results/sample"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    with tarfile.open(SAMPLE / "records.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "sample"


def test_rescoring_the_sample_finds_no_difference(
    records: Path, pddlego: Pddlego
) -> None:
    assert (
        "no difference in 1050 episodes of 21 cells" in pddlego("rescore", records).out
    )


def test_the_samples_report_is_the_one_that_is_shown(
    records: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    pddlego("report", records, "--out", tmp_path, "--without-pages")
    for name in (
        "report.md",
        "papers.md",
    ):  # the CSV's last digits differ between machines
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes()
