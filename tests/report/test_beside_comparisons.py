"""What pages show beside comparisons: lost games, what papers report, the same game."""

import json
import re
import shutil
from pathlib import Path

from tests.report.test_pages import Text, asked, planted, reported


def test_a_report_of_one_arm_shows_the_games_that_it_lost_and_where(
    played: Path, tmp_path: Path
) -> None:
    rows = [asked("success", 0), asked("solver_abort", 1)]
    planted(tmp_path / "runs" / "free", "free", rows, played)
    (by_the_reference,) = played.glob("*reference*/transcripts/1-0.jsonl")
    lost_game = tmp_path / "runs" / "free" / "transcripts" / "1-0.jsonl"
    shutil.copy(by_the_reference, lost_game)
    page = (reported(tmp_path) / "index.html").read_text(encoding="utf-8")
    lost = page[page.index('<h2 id="lost">') : page.index('<h2 id="results">')]
    assert re.findall("<b>(game .)</b>", lost) == ["game 1"]
    assert "the last file of the lost game, step " in lost and "<svg" in lost
    assert "episodes/free/1-0.html#step-" in lost
    assert page.index("How episodes ended") < page.index('<h2 id="lost">')


def test_what_the_papers_report_stands_folded_at_the_end(
    played: Path, written: Path
) -> None:
    page = (written / "index.html").read_text(encoding="utf-8")
    folded = page[page.index('<details id="papers">') :]
    assert folded.count("<details") == 1 and "<table" in folded
    assert page.index("Settings of each cell") < page.index('<details id="papers">')


def test_arms_of_one_name_are_told_apart_in_the_same_game(
    played: Path, tmp_path: Path
) -> None:
    arms = {"a": ("free", "any"), "b": ("typed", "any"), "c": ("typed", "line")}
    for name, (rung, layout) in arms.items():
        cell = tmp_path / "runs" / name
        planted(cell, rung, [asked("success", 0)], played)
        record = json.loads((cell / "run.json").read_text(encoding="utf-8"))
        record["identity"]["decoding"]["layout"] = layout
        (cell / "run.json").write_text(json.dumps(record), encoding="utf-8")
    page = reported(tmp_path) / "episodes" / "a" / "0-0.html"
    told = " ".join(Text(page.read_text(encoding="utf-8")).text.split())
    assert "typed, layout any success" in told and "typed, layout line" in told
