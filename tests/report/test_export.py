"""The table of calls adds up to the rows that were recorded."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.record import read_rows


def test_calls_add_up_to_the_rows_of_their_episodes(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "calls.csv"
    assert run(["export", str(played), "--out", str(out)]) == 0
    with out.open(newline="") as file:
        lines = list(csv.DictReader(file))
    seen = 0
    for path in played.glob("*/episodes.jsonl"):
        for row in read_rows(path):
            of_row = [
                line for line in lines
                if (line["cell"], line["game"]) == (path.parent.name, str(row.game))
            ]  # fmt: skip
            seen += len(of_row)
            assert [int(line["call"]) for line in of_row] == list(range(1, row.calls + 1))
            assert Counter(line["cause"] for line in of_row) == row.causes
            for column in ("prompt_tokens", "sampled_tokens", "forced_tokens", "rollbacks"):
                assert sum(int(line[column]) for line in of_row) == getattr(row, column)
            assert {line["outcome"] for line in of_row} <= {row.outcome}
            assert all((line["plan_actions"] not in ("", "0")) == (line["cause"] == "solved")
                       for line in of_row)  # fmt: skip
    assert seen == len(lines) > 4


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(played), "--out", str(tmp_path / "no folder" / "calls.csv")]) == 3
    assert "cannot write" in capsys.readouterr().err
