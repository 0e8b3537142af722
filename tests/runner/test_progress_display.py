"""What a run shows of itself while it goes on."""

import io
import random
import time
from pathlib import Path

import pytest
from rich.console import Console

from pddlego_local.core.record.counting import time_left_s
from pddlego_local.core.record.rows import FaultRow
from pddlego_local.runner.progress_display import LiveView
from tests.rows import row

CELL = Path("runs/x/cell")


def test_what_has_come_of_the_run_is_told_in_plain_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s, restarts = 0.0, [0]
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    console = Console(file=io.StringIO(), force_terminal=False, width=200)
    view = LiveView(console, 3, 50, lambda: restarts[0], done=10)
    view.begin()
    for game, outcome in enumerate(
        ("success", "step_limit", "success_at_start", "success")
    ):
        view.episode_ended(CELL, row(outcome, game, completion_tokens=300))
    fault = FaultRow(game=4, trial=0, fault="ModelFault", message="gone", time="now")
    view.episode_ended(CELL, fault)
    view.cells_done += 1
    now_s = 59
    view.update(under_way=2, planner_queue=0)
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]
    now_s, restarts[0] = 60, 1
    view.update(under_way=2, planner_queue=7)
    now_s = 61
    view.update(under_way=2, planner_queue=7)
    assert console.file.getvalue() == (  # type: ignore[attr-defined]
        "14 of 50 episodes, cells 1/3, success 66.7% of 3 scored (1 trivial excluded), "
        "20 tokens/s, planner queue 7, server restarts 1, 0:05:50 left\n"
    )
    view.end()


def test_in_a_narrow_window_nothing_is_cut_and_the_end_is_told() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=60)
    view = LiveView(console, 1, 2, lambda: 0, done=0)
    view.begin()
    for number in range(2):
        view.episode_ended(CELL, row("success", number))
        view.update(under_way=1 - number, planner_queue=0)
    view.cells_done += 1
    view.end()
    told = " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]
    assert "2/2" in told and "cells 1/1," in told and "100.0%" in told
    assert "left" not in told and "…" not in told


@pytest.mark.parametrize("at_once", [1, 8, 64])
def test_the_time_left_is_right_within_a_fifth_after_a_tenth_of_the_work(
    at_once: int,
) -> None:
    """Episodes of very different lengths, as many at once as there are threads."""
    rng = random.Random(0)
    threads_free_at_s = [0.0] * at_once
    ends_s = []
    for _ in range(1000):
        threads_free_at_s.sort()
        threads_free_at_s[0] += rng.lognormvariate(3, 0.5)
        ends_s.append(threads_free_at_s[0])
    ends_s.sort()
    for done in (100, 250, 500):
        elapsed_s = ends_s[done - 1]
        left_s = time_left_s(elapsed_s, done, at_once, 1000)
        assert left_s == pytest.approx(ends_s[-1] - elapsed_s, rel=0.2)


def test_before_the_first_end_nobody_knows_how_long_it_takes() -> None:
    assert time_left_s(500.0, 0, 8, 100) is None
    assert time_left_s(500.0, 100, 0, 100) == 0
