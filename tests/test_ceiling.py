"""With perfect PDDL every game is won: a system that loses such games has a bug.

All 540 CoinCollector games of 3 to 11 rooms, seeds 0 to 59, through the real line.
"""

from collections import Counter
from pathlib import Path

import pytest

from pddlego_local.config import compose_cell
from pddlego_local.record import read_rows
from pddlego_local.run import run_cell


@pytest.mark.parametrize("rooms", range(3, 12))
def test_the_reference_formalizer_wins_every_coin_game(tmp_path: Path, rooms: int) -> None:
    cell = compose_cell([f"run.out={tmp_path}", f"environment.rooms={rooms}", "games=0-59"])
    result = run_cell(cell)
    rows = read_rows(result.folder / "episodes.jsonl")
    outcomes = Counter(row["outcome"] for row in rows)
    assert set(outcomes) <= {"success", "success_at_start"} and outcomes.total() == 60
    assert all(row["won"] for row in rows)
    assert sum(row["refused_actions"] + row["solver_errors"] for row in rows) == 0
