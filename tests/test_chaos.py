"""A few blows on a real sweep, and the harness itself: what it calls wrong must be
called so.
"""

from pathlib import Path

import pytest

from tests.processes import ran
from tests.rows import row
from tools.chaos.sweeps import wrong_rows


@pytest.mark.alfworld
def test_a_sweep_of_four_cells_is_struck_and_ends_as_if_undisturbed(
    tmp_path: Path,
) -> None:
    # With this seed: a signal to the planner's task, a killed client, another signal,
    # and a freeze.
    words = ["--kills", "4", "--seed", "6", "--games", "1", "--without-server", "--out"]
    ended = ran("-m", "tools.chaos", *words, tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "4 blows in" in ended.stdout
    assert "nothing lost, doubled or left" in ended.stdout
    assert "4 rows, as undisturbed" in ended.stdout


def test_a_sweep_meets_a_server_that_answers_as_no_server_should(
    tmp_path: Path,
) -> None:
    words = ["--games", "4", "--in-sweep", "10", "--out", tmp_path]
    ended = ran("-m", "tools.chaos.hostile", *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "211 hostile answers" in ended.stdout
    assert "each ended as it must" in ended.stdout


def test_rows_that_are_lost_doubled_changed_or_not_asked_for_are_told() -> None:
    expected = {"cell": [row(game=0), row(game=1)]}
    assert wrong_rows(expected, {"cell": [row(game=1), row(game=0)]}, ended=True) == []
    assert wrong_rows(expected, {"cell": [row(game=0)]}, ended=False) == []
    for found, told in (
        ([row(game=0)], "game 1, trial 0: lost"),
        ([row(game=0), row(game=1), row(game=1)], "game 1, trial 0: doubled"),
        ([row(game=0), row("step_limit", game=1)], "game 1, trial 0: another row"),
        ([row(game=0), row(game=1), row(game=2)], "game 2, trial 0: not asked for"),
    ):
        assert wrong_rows(expected, {"cell": found}, ended=True) == [f"cell: {told}"]
    assert wrong_rows(expected, expected | {"other": [row()]}, ended=True) != []
