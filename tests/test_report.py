"""Tables from records made by hand, with the answers worked out in comments."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.cli import run
from pddlego_local.metrics import summarize
from pddlego_local.report import Rate, find_cells, summary


def event(kind: str, **facts: Any) -> dict[str, Any]:
    return {"event": kind, **facts}


def call(step: int, attempt: int, retry: int, fault: str = "") -> dict[str, Any]:
    return event(
        "call", step=step, attempt=attempt, retry=retry, fault=fault,
        prompt_tokens=100, completion_tokens=10, latency_s=0.5,
    )  # fmt: skip


def plan(step: int, attempt: int, retry: int, outcome: str, length: int = 0) -> dict[str, Any]:
    return event(
        "plan", step=step, attempt=attempt, retry=retry, outcome=outcome,
        plan=["(move a b west)"] * length, message="", wall_time_s=0.25,
    )  # fmt: skip


def action(feedback: str = "", success: bool = False) -> dict[str, Any]:
    return event("action", feedback=feedback, success=success)


# Step 1: the first answer is cut off, its retry gives a plan of two actions, both carried out.
# Step 2: attempt 1 plans at once, its second action is refused; the restart replays the two actions
# of step 1; attempt 2 plans at once and its only action finds the coin.
EVENTS = [
    event("start"),
    call(1, 1, 0, "truncated"),
    call(1, 1, 1), plan(1, 1, 1, "solved", 2), action(), action(),
    call(2, 1, 0), plan(2, 1, 0, "solved", 2), action(), action("closed"),
    event("restart", replayed=["a", "b"]),
    call(2, 2, 0), plan(2, 2, 0, "solved", 1), action(success=True),
]  # fmt: skip


def test_counts_of_an_episode() -> None:
    assert summarize(EVENTS) == {
        "steps": 2,
        "actions": 3,  # two of step 1, replayed, and the last; the discarded prefix is not counted
        "refused_actions": 1,
        "calls": 4,
        "causes": {"solved": 3, "truncated": 1},
        "solver_errors": 1,  # attempt (1, 1)
        "solver_errors_fixed": 1,
        "simulation_errors": 1,  # step 2
        "simulation_errors_fixed": 1,
        "prompt_tokens": 400,
        "completion_tokens": 40,
        "model_time_s": 2.0,
        "planner_time_s": 0.75,
    }


def test_a_simulation_error_whose_last_attempt_gets_no_plan_is_not_fixed() -> None:
    events = [*EVENTS[:11], *(call(2, 2, retry, "empty") for retry in range(6))]
    row = summarize(events)
    assert (row["simulation_errors"], row["simulation_errors_fixed"]) == (1, 0)
    assert (row["solver_errors"], row["solver_errors_fixed"]) == (2, 1)


def test_wilson_interval() -> None:
    # 8 of 10, z = 1.96: centre (0.8 + z²/20)/(1 + z²/10) = 0.7167, half width 0.2264
    assert list(Rate(8, 10).interval) == pytest.approx([0.4902, 0.9433], abs=1e-4)
    assert str(Rate(8, 10)) == "80.0 % [49.0, 94.3] of 10"
    assert str(Rate(0, 0)) == "–"


def write_cell(folder: Path, outcomes: list[str], games: str) -> None:
    folder.mkdir(parents=True)
    labels = {"environment": "coin", "method": "m", "model": "random", "decoding": "syntax"}
    run_json = {
        "labels": labels,
        "identity": {"environment": {"rooms": 5}, "seed": 0},
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
    assert line["PDDL"] == "solved 9, truncated 3"
    assert line["solver errors fixed"] == "3 of 3"
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
    assert (tmp_path / "out" / "report.md").read_text().count("\n|") == 4


def test_a_folder_without_runs_is_an_error_of_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(tmp_path)]) == 2
    assert "no run.json" in capsys.readouterr().err
