"""Tables from records made by hand, with the answers worked out in comments."""

import csv
import json
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.metrics import summarize
from pddlego_local.report import find_cells, summary, tables
from tests.test_metrics import EVENTS


def write_cell(folder: Path, outcomes: list[str], games: str, variant: str = "detailed") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    labels = {"environment": "coin", "method": "m", "model": "random", "decoding": "syntax"}
    run_json = {
        "labels": labels,
        "environment": "coin",
        "task_groups": {},
        "identity": {
            "environment": {"rooms": 5, "budget": {"unit": "actions", "limit": 50}},
            "method": {"variant": variant},
            "seed": 0,
        },
        "starts": [{"config": {"games": games, "trials": 1}}],
    }
    (folder / "run.json").write_text(json.dumps(run_json))
    rows = [
        {
            "game": game, "trial": 0, "outcome": outcome, "success": "success" in outcome,
            "won": "success" in outcome, **summarize(EVENTS), "wall_time_s": 2.0,
        }
        for game, outcome in enumerate(outcomes)
    ]  # fmt: skip
    (folder / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


OUTCOMES = ["success", "success_at_start", "solver_abort", "success"]


def test_trivial_games_are_counted_apart_and_missing_ones_are_shown(tmp_path: Path) -> None:
    write_cell(tmp_path / "cell", OUTCOMES, "0-5")
    (cell,) = find_cells([tmp_path])
    line = summary(cell)
    assert line["success"].startswith("66.7 %") and line["success"].endswith("of 3")
    assert line["at start"] == "1" and line["no result"] == "2"
    assert line["answers"] == "solved 9, truncated 3"
    assert line["solver errors fixed"].endswith("of 3")
    assert summary(cell, with_trivial=True)["success"].endswith("of 4")


def test_report_prints_and_writes_markdown_and_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cell(tmp_path / "runs" / "a", OUTCOMES, "0-3")
    write_cell(tmp_path / "runs" / "b", ["solver_abort"], "0")
    assert run(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]) == 0
    assert "66.7" in capsys.readouterr().out
    with (tmp_path / "out" / "report.csv").open() as file:
        assert [row["success"][:5] for row in csv.DictReader(file)] == ["66.7 ", "0.0 %"]
    assert (tmp_path / "out" / "report.md").read_text().count("\n|") == 8


def test_a_folder_without_runs_is_an_error_of_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(tmp_path)]) == 2
    assert "no run.json" in capsys.readouterr().err


def test_what_tells_cells_apart_is_shown_and_budgets_always(tmp_path: Path) -> None:
    write_cell(tmp_path / "a", OUTCOMES, "0-3", "detailed")
    write_cell(tmp_path / "b", OUTCOMES, "0-3", "simple")
    lines, by_group = tables(find_cells([tmp_path]))
    assert [line["settings"] for line in lines] == [
        "method.variant=detailed seed=0",
        "method.variant=simple seed=0",
    ]
    assert {line["budget"] for line in lines} == {"50 actions"}
    shown = [(line["tasks"], line["success"][-4:]) for line in by_group]
    assert shown == [("11 rooms", "of 3")] * 2


def test_unsolvable_games_count_for_no_method(tmp_path: Path) -> None:
    write_cell(tmp_path, [*OUTCOMES, "unsolvable_game"], "0-4")
    line = summary(find_cells([tmp_path])[0])
    assert line["unsolvable"] == "1" and line["success"].endswith("of 3")
