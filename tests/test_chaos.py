"""A few blows on a real sweep, and the harness itself: what it calls wrong must be
called so.
"""

import contextlib
import os
import threading
from pathlib import Path

import pytest

from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.planner import FastDownward
from tests.processes import ran
from tests.rows import row
from tools.chaos.blows import TARGETS
from tools.chaos.processes import below
from tools.chaos.sweeps import wrong_rows


@pytest.mark.alfworld
def test_a_sweep_of_four_cells_is_struck_and_ends_as_if_undisturbed(
    tmp_path: Path,
) -> None:
    # With this seed: a signal to the planner's task, a killed client, another signal,
    # and a freeze.
    words = [
        "--kills",
        "4",
        "--seed",
        "6",
        "--games",
        "1",
        "--without-server",
        "--out",
        tmp_path,
    ]
    ended = ran("-m", "tools.chaos", *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "nothing lost, doubled or left" in ended.stdout
    assert "4 rows, as undisturbed" in ended.stdout


def test_a_sweep_meets_a_server_that_answers_as_no_server_should(
    tmp_path: Path,
) -> None:
    words = ["--games", "4", "--in-sweep", "10", "--out", tmp_path]
    ended = ran("-m", "tools.chaos.hostile", *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (
        "213 hostile answers" in ended.stdout
        and "each ended as it must" in ended.stdout
    )


@pytest.mark.alfworld
def test_what_is_to_be_killed_is_found() -> None:
    with (
        FastDownward() as planner,
        contextlib.closing(Coin()) as coin,
        contextlib.closing(Alfworld()) as alfworld,
    ):
        coin.reset(1)
        alfworld.reset(0)
        found = threading.Event()
        planning = threading.Thread(
            target=lambda: [planner.plan("", "") for _ in iter(found.is_set, True)]
        )
        planning.start()
        task = any(below(os.getpid(), TARGETS["planner's task"]) for _ in range(1000))
        found.set()
        planning.join()
        assert task
        for name in ("planner worker", "Java", "ALFWorld"):
            assert below(os.getpid(), TARGETS[name]), name


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
