"""Every method in every environment, through the sweep that a user would type."""

import json
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.resources import folder

BY_SUBGOALS = {"deps", "zero_shot_planner", "zero_shot_replan", "inner_monologue"}
# Of worlds that are told whole.
FORMALIZERS = {"formalizer", "formalizer_problem", "formalizer_two_step"}
METHODS = {
    path.stem for path in (folder("conf") / "method").glob("*.yaml")
} - FORMALIZERS


@pytest.mark.parametrize(
    "environment", ["coin", "cooking_easy", "cooking_hard", "alfworld"]
)
def test_perfect_answers_win_by_every_method(tmp_path: Path, environment: str) -> None:
    """Two games each. Only chance may lose."""
    words = ["experiment=systems", f"environment={environment}", f"run.out={tmp_path}"]
    assert run(["run", "-m", *words]) == 0
    played = set()
    for record in tmp_path.rglob("run.json"):
        method = json.loads(record.read_text(encoding="utf-8"))["labels"]["method"]
        rows = read_rows(record.parent / "episodes.jsonl")
        assert [row.game for row in sorted(rows, key=lambda row: row.game)] == [0, 1]
        if method != "random_policy":
            assert {row.outcome for row in rows} <= {"success", "success_at_start"}, (
                method
            )
            assert all(row.won for row in rows)
            assert not any(
                row.refused or row.solver_errors or row.edit_faults for row in rows
            )
            assert not any(row.simulation_errors for row in rows), method
        if method in BY_SUBGOALS:
            failed = [
                row.notes["subgoals"].get("failed", 0) for row in rows if row.calls
            ]
            assert not any(failed), method
        played.add(method)
    assert played == METHODS


def test_perfect_answers_win_in_described_worlds(tmp_path: Path) -> None:
    methods = FORMALIZERS | {"pddlego_plus", "plangen"}
    words = ["environment=described", f"method={','.join(methods)}", "games=0-1"]
    words += [
        "environment.world=blocksworld,logistics",
        "model=reference",
        f"run.out={tmp_path}",
    ]
    assert run(["run", "-m", *words]) == 0
    played = {record.parent for record in tmp_path.rglob("run.json")}
    assert len(played) == 2 * len(methods)
    for cell in played:
        rows = read_rows(cell / "episodes.jsonl")
        assert len(rows) == 2 and all(row.success and row.won for row in rows)
