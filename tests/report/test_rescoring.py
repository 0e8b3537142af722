"""Rows computed again: the same for real records, and every tampering is told."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pddlego import Pddlego


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    """The cell of the perfect player: game 1 and others, each in one trial."""
    (cell,) = played.glob("*reference*")
    return Path(shutil.copytree(cell, tmp_path / "cell"))


def edited(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Changes the lines of a file, as objects."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines)
    path.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines),
        encoding="utf-8",
    )


def remove_a_call(events: list[dict[str, Any]]) -> None:
    events.remove(next(event for event in events if event["event"] == "call"))


def say_game_2_again(rows: list[dict[str, Any]]) -> None:
    """Rows stand in the order in which games ended."""
    rows.append(next(row for row in rows if row["game"] == 2))


def lose(events: list[dict[str, Any]]) -> None:
    for event in events:
        event |= {"success": False} if event["event"] == "action" else {}


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        (
            "episodes.jsonl",
            lambda rows: rows[0].update(calls=99),
            "calls is 99 in the row and ",
        ),
        (
            "episodes.jsonl",
            lambda rows: rows[0].update(notes={"a": 1}),
            "notes is {'a': 1}",
        ),
        (
            "episodes.jsonl",
            lambda rows: rows[0].update(outcome="no_plan"),
            "outcome is 'no_plan'",
        ),
        ("episodes.jsonl", say_game_2_again, "a further row of game 2, trial 0"),
        ("episodes.jsonl", lambda rows: rows.pop(), "a transcript without a row"),
        ("transcripts/1-0.jsonl", remove_a_call, "calls is "),
        (
            "transcripts/1-0.jsonl",
            lose,
            "the outcome is success and the game said success: False",
        ),
        (
            "transcripts/1-0.jsonl",
            lambda events: events.pop(),
            "the transcript has no end",
        ),
    ],
)
def test_what_differs_is_told(
    copy: Path, pddlego: Pddlego,
    file: str, change: Callable[[list[dict[str, Any]]], object], told: str,
) -> None:  # fmt: skip
    edited(copy / file, change)
    said = pddlego("rescore", copy, code=1).out
    assert told in said and "game " in said and "difference" in said.splitlines()[-1]


def test_a_lost_transcript_is_told(copy: Path, pddlego: Pddlego) -> None:
    (copy / "transcripts" / "1-0.jsonl").unlink()
    (copy / "transcripts" / "notes of mine.jsonl").write_text("", encoding="utf-8")
    told = pddlego("rescore", copy, code=1).out
    assert "game 1, trial 0: a row without a transcript" in told


def report(copy: Path, pddlego: Pddlego, code: int) -> str:
    return "".join(pddlego("report", copy, "--out", copy, "--without-pages", code=code))


def test_a_report_names_rows_that_nothing_confirms(
    copy: Path, pddlego: Pddlego
) -> None:
    report(copy, pddlego, 0)
    edited(copy / "episodes.jsonl", lambda rows: rows.append({**rows[0], "game": 77}))
    (copy / "transcripts" / "1-0.jsonl").unlink()
    told = report(copy, pddlego, 1)
    for problem in (
        "nobody requested game 77, trial 0",
        "game 77, trial 0, has no transcript",
        "game 1, trial 0, has no transcript",
    ):
        assert f"{copy}: {problem}" in told and problem in (
            copy / "report.md"
        ).read_text(encoding="utf-8")
    assert "nobody requested game 77, trial 0" in pddlego("rescore", copy, code=1).out


def test_a_record_that_was_archived_without_transcripts_is_reported(
    copy: Path, pddlego: Pddlego
) -> None:
    shutil.rmtree(copy / "transcripts")
    assert "transcript" not in report(copy, pddlego, 0)


def test_rows_of_before_a_lost_run_json_are_no_strangers(
    copy: Path, pddlego: Pddlego
) -> None:
    run = json.loads((copy / "run.json").read_text(encoding="utf-8"))
    run["starts"][-1]["config"]["games"] = "0"
    (copy / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert "nobody requested game 1" in report(copy, pddlego, 1)
    run["starts"][-1]["rows_before"] = 3
    (copy / "run.json").write_text(json.dumps(run), encoding="utf-8")
    report(copy, pddlego, 0)
