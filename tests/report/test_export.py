"""What is exported adds up to the rows that were recorded."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.events import ActionTaken, Call, Plan
from pddlego_local.metrics.counting import counted
from pddlego_local.record import read_events, read_rows, transcript_of


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


@pytest.fixture
def logs(played: Path, tmp_path: Path) -> list[Path]:
    assert run(["export", str(played), "--inspect", str(tmp_path / "logs")]) == 0
    return sorted((tmp_path / "logs").iterdir())


def test_a_log_tells_each_episode_with_all_that_was_said(played: Path, logs: list[Path]) -> None:
    cells = {path.name: path for path in played.iterdir() if (path / "run.json").exists()}
    assert len(logs) == len(cells)
    for file in logs:
        began, _, name = file.stem.partition("_")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d", began)
        log, rows = json.loads(file.read_text()), read_rows(cells[name] / "episodes.jsonl")
        assert log["eval"]["created"].startswith(began[:10])
        assert len(log["samples"]) == len(rows)
        counting = [row.success for row in counted(rows).counted]
        scores = [s["scores"]["success"]["value"] for s in log["samples"] if "scores" in s]
        assert sorted(scores) == sorted("C" if won else "I" for won in counting)
        (score,) = log["results"]["scores"]
        assert score["metrics"]["accuracy"]["value"] == sum(counting) / len(counting)
        for sample in log["samples"]:
            events = read_events(transcript_of(cells[name], sample["id"], sample["epoch"] - 1))
            said = Counter(m.get("function", m["role"]) for m in sample["messages"])
            of = Counter(type(event) for event in events)
            assert said["assistant"] == of[Call] and said["planner"] == of[Plan]
            assert said["game"] == 1 + of[ActionTaken]
            assert bool(said["user"]) == bool(of[Call])


def test_inspect_reads_the_logs(logs: list[Path]) -> None:
    inspect_log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    listed = inspect_log.list_eval_logs(str(logs[0].parent))
    assert len(listed) == len(logs)
    for one in listed:
        log = inspect_log.read_eval_log(one)
        assert log.status == "success" and log.results.scores[0].name == "success"


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(played), "--out", str(tmp_path / "no folder" / "calls.csv")]) == 3
    assert "cannot write" in capsys.readouterr().err
