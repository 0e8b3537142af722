"""Success after trial 1, 2, …, on rows made by hand and counted by hand."""

from typing import Any

from pddlego_local.trials import success_after_trials


def row(game: int, trial: int, outcome: str, task_type: str | None = "put") -> dict[str, Any]:
    success = outcome in ("success", "solved_before", "success_at_start")
    return {
        "game": game,
        "trial": trial,
        "outcome": outcome,
        "success": success,
        "task_type": None if outcome == "solved_before" else task_type,
    }


def test_games_count_from_the_trial_that_solved_them() -> None:
    rows = [
        # put: game 0 solved in the second trial, game 1 never, game 2 in the first
        row(0, 0, "step_limit"),
        row(0, 1, "success"),
        row(0, 2, "solved_before"),
        row(1, 0, "step_limit"),
        row(1, 1, "repeated_action"),
        row(1, 2, "game_lost"),
        row(2, 0, "success"),
        row(2, 1, "solved_before"),
        row(2, 2, "solved_before"),
        # cool: one game, solved in the third
        row(3, 0, "step_limit", "cool"),
        row(3, 1, "step_limit", "cool"),
        row(3, 2, "success", "cool"),
    ]
    expected = {"cool": [(0, 1), (0, 1), (1, 1)], "put": [(1, 3), (2, 3), (2, 3)]}
    assert success_after_trials(rows) == expected
    assert success_after_trials(reversed(rows)) == expected


def test_trials_that_do_not_learn_add_up_too() -> None:
    # played again although solved, and failed: it stays solved
    rows = [row(0, 0, "success"), row(0, 1, "step_limit")]
    assert success_after_trials(rows) == {"put": [(1, 1), (1, 1)]}


def test_what_was_not_played_counts_neither_way() -> None:
    # game 1 is solved, game 2 is not; their second trials are still to come
    rows = [row(0, 0, "step_limit"), row(1, 0, "success"), row(2, 0, "no_action")]
    rows += [row(0, 1, "success")]
    assert success_after_trials(rows) == {"put": [(1, 3), (1, 1)]}


def test_games_that_say_nothing_are_left_out() -> None:
    rows = [row(0, 0, "unsolvable_game"), row(0, 1, "unsolvable_game")]
    rows += [row(1, 0, "success_at_start"), row(1, 1, "solved_before"), row(2, 0, "success")]
    assert success_after_trials(rows) == {"put": [(1, 1)]}
    assert success_after_trials([]) == {}
