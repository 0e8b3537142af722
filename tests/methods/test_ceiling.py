"""With perfect PDDL every game is won: a system that loses such games has a bug.

All 540 CoinCollector games of 3 to 11 rooms and 120 of CookingWorld, seeds 0 to 59,
through the real line. (`experiment=question/ceiling` plays every method.)
"""

from pathlib import Path

import pytest

from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell


def played(tmp_path: Path, *overrides: str, last: int = 59) -> list[EpisodeRow]:
    """The rows of games 0 to `last`; nothing that was planned may have been refused."""
    games = f"games=0-{last}"
    result = run_cell(compose_cell([f"run.out={tmp_path}", games, *overrides]))
    rows = read_rows(result.folder / "episodes.jsonl")
    assert len(rows) == last + 1
    for row in rows:
        assert row.outcome in ("success", "success_at_start")
        assert row.won
        assert row.refused == 0
        assert row.solver_errors == 0
    return rows


@pytest.mark.parametrize("rooms", range(3, 12))
def test_every_coin_game_is_won(tmp_path: Path, rooms: int) -> None:
    played(tmp_path, f"environment.rooms={rooms}")


def test_a_meal_is_found_in_eleven_rooms_among_distractors(tmp_path: Path) -> None:
    words = ["rooms=11", "ingredients=5", "distractors=10", "limit_inventory=true"]
    words += ["fold=test", "budget.limit=60"]
    settings = [f"environment.{word}" for word in words]
    played(tmp_path, "environment=cooking", "method=pddl_edit", *settings, last=4)


@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_gen"])
@pytest.mark.parametrize(("level", "budget"), [("easy", 20), ("hard", 50)])
def test_every_cooking_game_is_won_within_the_papers_budget(
    tmp_path: Path, method: str, level: str, budget: int
) -> None:
    rows = played(tmp_path, f"environment=cooking_{level}", f"method={method}")
    assert max(row.actions for row in rows) <= budget
