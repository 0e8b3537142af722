"""Every measure from records made by hand, with the answers worked out in comments."""

from collections import Counter
from typing import Any

import pytest

from pddlego_local.metrics import Rate, measure, summarize


def event(kind: str, **facts: Any) -> dict[str, Any]:
    return {"event": kind, **facts}


def call(step: int, attempt: int, retry: int, fault: str = "") -> dict[str, Any]:
    return event(
        "call", form="pddl", step=step, attempt=attempt, retry=retry, fault=fault,
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
    event("start", task_type="11 rooms"),
    call(1, 1, 0, "truncated"),
    call(1, 1, 1), plan(1, 1, 1, "solved", 2), action(), action(),
    call(2, 1, 0), plan(2, 1, 0, "solved", 2), action(), action("closed"),
    event("restart", replayed=["a", "b"]),
    call(2, 2, 0), plan(2, 2, 0, "solved", 1), action(success=True),
]  # fmt: skip


def test_counts_of_an_episode() -> None:
    assert summarize(EVENTS) == {
        "task_type": "11 rooms",
        "steps": 2,
        "actions": 3,  # two of step 1, replayed, and the last; the discarded prefix is not counted
        "refused_actions": 1,
        "calls": 4,
        "causes": {"solved": 3, "truncated": 1},
        "solver_errors": 1,  # attempt (1, 1)
        "solver_errors_fixed": 1,
        "simulation_errors": 1,  # step 2
        "simulation_errors_fixed": 1,
        "edit_faults": 0,
        "prompt_tokens": 400,
        "completion_tokens": 40,
        "model_time_s": 2.0,
        "planner_time_s": 0.75,
        "notes": {},
    }


def test_a_simulation_error_whose_last_attempt_gets_no_plan_is_not_fixed() -> None:
    events = [*EVENTS[:11], *(call(2, 2, retry, "empty") for retry in range(6))]
    row = summarize(events)
    assert (row["simulation_errors"], row["simulation_errors_fixed"]) == (1, 0)
    assert (row["solver_errors"], row["solver_errors_fixed"]) == (2, 1)


def test_only_the_last_goal_of_an_answer_counts_and_what_is_no_pddl_is_no_solver_error() -> None:
    seen = {**call(1, 1, 0), "form": "seen"}
    problem = {**call(1, 1, 0), "form": "problem"}
    events = [
        event("start"),
        seen,  # answered, and not for the planner
        problem, plan(1, 1, 0, "unsolvable"), plan(1, 1, 0, "solved", 1), action(),
        {**seen, "fault": "truncated"},
    ]  # fmt: skip
    row = summarize(events)
    assert row["causes"] == {"answered": 1, "solved": 1, "truncated": 1}
    assert row["solver_errors"] == 0


def test_an_action_that_was_mended_at_the_second_attempt() -> None:
    named = [{**call(1, attempt, 0), "form": "command"} for attempt in (1, 2)]
    events = [named[0], action("no door"), event("restart", replayed=[]), named[1], action()]
    row = summarize(events)
    assert (row["simulation_errors"], row["simulation_errors_fixed"]) == (1, 1)
    assert (row["actions"], row["refused_actions"], row["solver_errors"]) == (1, 1, 0)


def test_edit_faults_and_the_last_of_each_note_reach_the_row() -> None:
    events = [
        event("edit", faults=["a", "b"]), event("edit", faults=[]), event("edit", faults=["c"]),
        event("note", lesson="old"), event("note", lesson="new", trace="t"),
    ]  # fmt: skip
    row = summarize(events)
    assert row["edit_faults"] == 3
    assert row["notes"] == {"lesson": "new", "trace": "t"}


def row(outcome: str, **counts: Any) -> dict[str, Any]:
    zero = dict.fromkeys(
        ("won", "steps", "actions", "refused_actions", "solver_errors", "solver_errors_fixed",
         "simulation_errors", "simulation_errors_fixed", "edit_faults"), 0,
    )  # fmt: skip
    return {**zero, "outcome": outcome, "success": outcome == "success", "causes": {}, **counts}


ROWS = [
    row("success", won=1, steps=2, actions=4, solver_errors=1, solver_errors_fixed=1,
        causes={"solved": 2, "empty": 1}),
    row("success", steps=4, actions=8, refused_actions=1, simulation_errors=2,
        simulation_errors_fixed=2, causes={"solved": 3}),
    row("solver_abort", steps=3, actions=5, solver_errors=2, solver_errors_fixed=1, edit_faults=2,
        causes={"unsolvable": 6}),
    row("simulation_abort", steps=6, actions=3, refused_actions=5, simulation_errors=1),
]  # fmt: skip


def test_measures_of_a_cell() -> None:
    found = measure(ROWS)
    assert found.success == Rate(2, 4) and found.won == 1
    assert found.solver_errors == 3  # 1 + 0 + 2 + 0
    assert found.solver_fixed == Rate(2, 3)  # 1 + 1 of 3
    assert found.simulation_errors == 3 and found.simulation_fixed == Rate(2, 3)
    assert found.solver_aborts == 1 and found.simulation_aborts == 1
    assert found.steps_on_success == 3.0  # (2 + 4) / 2
    assert found.steps_on_failure == 4.5  # (3 + 6) / 2
    assert found.actions == 5.0  # (4 + 8 + 5 + 3) / 4, all trials
    assert found.actions_on_success == 6.0  # (4 + 8) / 2
    assert found.actions_on_success_sd == pytest.approx(2.8284, abs=1e-4)  # sqrt((4 + 4) / (2-1))
    assert found.refused_actions == 1.5  # (0 + 1 + 0 + 5) / 4
    assert found.edit_faults == 2
    assert found.causes == Counter(solved=5, empty=1, unsolvable=6)


def test_measures_of_nothing() -> None:
    found = measure([])
    assert found.success == Rate(0, 0)
    assert found.steps_on_success is None and found.actions_on_success_sd is None


def test_wilson_interval() -> None:
    # 8 of 10, z = 1.96: centre (0.8 + z²/20)/(1 + z²/10) = 0.7167, half width 0.2264
    assert list(Rate(8, 10).interval) == pytest.approx([0.4902, 0.9433], abs=1e-4)
    assert str(Rate(8, 10)) == "80.0 % [49.0, 94.3] of 10"
    assert str(Rate(0, 0)) == "–"
