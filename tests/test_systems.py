"""Every method in every environment, through the sweep that a user would type."""

import json
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import folder
from tests.methods.test_every_method import IN_WORDS, ONE_ANSWER_A_STEP

# Of worlds that are told whole.
FORMALIZERS = {"formalizer", "formalizer_problem", "formalizer_two_step"}
METHODS = {
    path.stem for path in (folder("conf") / "method").glob("*.yaml")
} - FORMALIZERS


@pytest.mark.parametrize(
    "environment", ["coin", "cooking_easy", "cooking_hard", "alfworld"]
)
def test_perfect_answers_win_by_every_method(tmp_path: Path, environment: str) -> None:
    """One game each. Only chance may lose."""
    words = [
        "experiment=question/systems",
        f"environment={environment}",
        "games=1",
        f"run.out={tmp_path}",
    ]
    assert run(["run", "-m", *words]) == 0
    played = {}
    for record in tmp_path.rglob("run.json"):
        labels = json.loads(record.read_text(encoding="utf-8"))["labels"]
        played[labels["method"]] = read_rows(record.parent / "episodes.jsonl")
    assert played.keys() == METHODS
    for method, rows in played.items():
        assert [row.game for row in rows] == [1]
        if method != "random_policy":
            assert_won(rows)
        if method in ONE_ANSWER_A_STEP and environment == "coin":
            assert all(row.calls == row.steps for row in rows if row.calls), method
        if method in IN_WORDS:
            subgoals = [row.notes["subgoals"] for row in rows if row.calls]
            assert not any(found.get("failed", 0) for found in subgoals), method


def assert_won(rows: list[EpisodeRow]) -> None:
    """That all episodes were won without any mistake."""
    for row in rows:
        assert row.outcome in ("success", "success_at_start") and row.won, row
        assert not (row.refused or row.edit_faults), row
        assert not (row.solver_errors or row.simulation_errors), row


def test_perfect_answers_win_in_described_worlds(tmp_path: Path) -> None:
    methods = FORMALIZERS | {"pddlego_plus", "plangen"}
    words = [
        "environment=described",
        f"method={','.join(methods)}",
        "games=0",
        "environment.world=blocksworld,logistics",
        "model=reference",
        f"run.out={tmp_path}",
    ]
    assert run(["run", "-m", *words]) == 0
    played = [read_rows(file) for file in tmp_path.rglob("episodes.jsonl")]
    assert [len(rows) for rows in played] == [1] * 2 * len(methods)
    for rows in played:
        assert_won(rows)
