"""What is exported adds up to the rows that were recorded."""

import csv
import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest
from pyarrow import parquet

from pddlego_local.cli import run
from pddlego_local.core.outcomes import OUTCOMES
from pddlego_local.core.record.events import ActionTaken, Call
from pddlego_local.core.record.folder import read_events, read_rows, transcript_of
from pddlego_local.report.exports import CALL_COLUMNS, EPISODE_COLUMNS
from pddlego_local.report.table_file import Row, write_table


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


def test_parquet_holds_what_csv_holds_with_numbers_as_numbers(played: Path, tmp_path: Path) -> None:
    for options, columns in (([], CALL_COLUMNS), (["--episodes"], EPISODE_COLUMNS)):
        for name in ("rows.csv", "rows.parquet"):
            assert run(["export", str(played), "--out", str(tmp_path / name), *options]) == 0
        with (tmp_path / "rows.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        rows = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
        assert len(rows) == len(lines) > 3
        for row, line in zip(rows, lines, strict=True):
            assert list(row) == list(line) == list(columns)
            for name, value in row.items():
                assert value is None or type(value) is columns[name]
                assert str("" if value is None else value) == line[name]


def test_a_line_of_calls_holds_prompt_and_answer_and_one_of_episodes_what_was_recorded(
    played: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rows.parquet"
    for path in sorted(played.glob("*/episodes.jsonl")):
        assert run(["export", str(path.parent), "--out", str(out)]) == 0
        lines = parquet.read_table(out).to_pylist()
        assert run(["export", str(path.parent), "--episodes", "--out", str(out)]) == 0
        episodes = {row["game"]: row for row in parquet.read_table(out).to_pylist()}
        for row in read_rows(path):
            told = episodes[row.game]
            assert (json.loads(told["causes"]), told["steps"]) == (row.causes, row.steps)
            assert told["counts"] == (not OUTCOMES[row.outcome].apart)
            events = read_events(transcript_of(path.parent, row.game, row.trial))
            asked = [event for event in events if isinstance(event, Call)]
            of_row = [line for line in lines if line["game"] == row.game]
            assert [line["answer"] for line in of_row] == [call.text for call in asked]
            prompts = [[dataclasses.asdict(m) for m in call.messages] for call in asked]
            assert [json.loads(line["prompt"]) for line in of_row] == prompts
            taken = [event.command for event in events if isinstance(event, ActionTaken)]
            assert json.loads(told["commands"]) == taken


HOSTILE = "a\r\nb\n\"c\", 'd'\0e\t; é\u2028 \N{GRINNING FACE} =1+1"


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_any_text_comes_back_as_it_was(tmp_path: Path, name: str) -> None:
    rows: list[Row] = [{"text": text, "n": n} for n, text in enumerate([HOSTILE, "", "\ud800x"])]
    assert write_table(tmp_path / name, {"text": str, "n": int}, rows) == 3
    if name.endswith(".csv"):
        with (tmp_path / name).open(newline="", encoding="utf-8") as file:
            read = [line["text"] for line in csv.DictReader(file)]
    else:
        read = parquet.read_table(tmp_path / name)["text"].to_pylist()
    assert read == [HOSTILE, "", "?x"]


def test_a_name_that_promises_another_format_or_a_missing_package_is_told_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["export", "nowhere", "--out", str(tmp_path / "a.xlsx")]) == 2
    assert ".csv or .parquet" in capsys.readouterr().err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert run(["export", "nowhere", "--out", str(tmp_path / "a.parquet")]) == 3
    assert "pip install 'pddlego_local[parquet]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(played), "--out", str(tmp_path / "no folder" / "calls.csv")]) == 3
    assert "cannot write" in capsys.readouterr().err
