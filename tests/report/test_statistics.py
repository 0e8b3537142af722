"""Every measure from records made by hand, with the answers worked out in comments."""

import dataclasses
import math
from collections import Counter
from typing import Any

import pytest
from scipy.stats import binomtest

from pddlego_local.core.record.events import (
    ActionTaken,
    Chosen,
    EditApplied,
    Event,
    Note,
    Plan,
    Restart,
    Start,
    Where,
)
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import summarize
from pddlego_local.report.exports import calls
from pddlego_local.report.measures import measure
from pddlego_local.report.numbers import success_after_trials
from pddlego_local.report.statistics.rates import Rate, if_missing
from tests.rows import call, row, stage


def plan(
    step: int, attempt: int, retry: int, outcome: Any, length: int = 0, sample: int = 0,
    then: tuple[str, ...] = (),
) -> Plan:  # fmt: skip
    where = Where(step=step, attempt=attempt, retry=retry, sample=sample)
    return Plan(
        where=where,
        goal=None,
        then=then,
        domain="",
        problem="",
        outcome=outcome,
        plan=("(move a b west)",) * length,
        message="",
        told="",
        wall_time_s=0.25,
        wait_s=4.0,
    )


def action(feedback: str = "", success: bool = False) -> ActionTaken:
    return ActionTaken(
        planned=None, command="look", observation="", feedback=feedback, success=success
    )


def start() -> Start:
    return Start(game=0, task_type="11 rooms", observation="", success=False)


# Step 1: the first answer is cut off, its retry gives a plan of two actions, both
# carried out. Step 2: attempt 1 plans at once, its second action is refused; the
# restart replays the two actions of step 1; attempt 2 plans at once and its only action
# finds the coin.
EVENTS: list[Event] = [
    start(),
    call(1, 1, 0, "truncated"),
    call(1, 1, 1), plan(1, 1, 1, "solved", 2), action(), action(),
    call(2, 1, 0), plan(2, 1, 0, "solved", 2), action(), action("closed"),
    Restart(replayed=("a", "b")),
    call(2, 2, 0), plan(2, 2, 0, "solved", 1), action(success=True),
]  # fmt: skip


def test_counts_of_an_episode() -> None:
    assert dataclasses.asdict(summarize(EVENTS)) == {
        "task_type": "11 rooms",
        "steps": 2,
        # two of step 1, replayed, and the last; the discarded prefix is not counted
        "actions": 3,
        "refused": 1,
        "pddlego_steps": 4,  # 3 + 1
        "calls": 4,
        "causes": {"solved": 3, "truncated": 1},
        "solver_errors": 1,  # attempt (1, 1)
        "solver_errors_fixed": 1,
        "simulation_errors": 1,  # step 2
        "simulation_errors_fixed": 1,
        "edit_faults": 0,
        "prompt_tokens": 400,
        "completion_tokens": 40,
        "forced_tokens": 12,
        "rollbacks": 0,
        "model_time_s": 2.0,
        "planner_time_s": 0.75,  # 3 * 0.25
        "planner_wait_s": 12.0,  # 3 * 4
        "notes": {},
        "map": "",
        "map_seen": False,
        "cut_after_answer": 0,
    }


def test_a_simulation_error_whose_last_attempt_gets_no_plan_is_not_fixed() -> None:
    counts = summarize(
        [*EVENTS[:11], *(call(2, 2, retry, "empty") for retry in range(6))]
    )
    assert (counts.simulation_errors, counts.simulation_errors_fixed) == (1, 0)
    assert (counts.solver_errors, counts.solver_errors_fixed) == (2, 1)


def test_only_the_last_goal_of_an_answer_counts_and_no_pddl_is_no_solver_error() -> (
    None
):
    events: list[Event] = [
        start(),
        call(form="seen"),  # answered, and not for the planner
        call(form="problem"),
        plan(1, 1, 0, "unsolvable"),
        plan(1, 1, 0, "solved", 1),
        action(),
        call(form="seen", fault="truncated"),
    ]
    counts = summarize(events)
    assert counts.causes == {"answered": 1, "solved": 1, "truncated": 1}
    assert counts.solver_errors == 0


def test_an_action_that_was_mended_at_the_second_attempt() -> None:
    named = [call(1, attempt, form="command") for attempt in (1, 2)]
    counts = summarize(
        [named[0], action("no door"), Restart(replayed=()), named[1], action()]
    )
    assert (counts.simulation_errors, counts.simulation_errors_fixed) == (1, 1)
    assert (counts.actions, counts.refused, counts.solver_errors) == (1, 1, 0)


@pytest.mark.parametrize(
    ("outcome", "given", "fixed"),
    [
        ("success", [action(), action(success=True)], True),
        (
            "step_limit",
            [action(), action(), action()],
            True,
        ),  # all of it, and the budget after it
        ("step_limit", [action(), action()], False),  # the budget ended the plan
        ("step_limit", [], False),
        ("game_lost", [action(), action()], False),
        ("game_lost", [action(), action(), action()], False),
        ("task_not_done", [action(), action(), action()], True),
    ],
)
def test_an_attempt_that_the_budget_or_the_game_ended_is_not_fixed(
    outcome: str, given: list[Event], fixed: bool
) -> None:
    # step 1 needs a retry; step 2 a second attempt, whose first PDDL needs a retry too
    events = [
        *EVENTS[:11],
        call(2, 2, 0, "empty"), call(2, 2, 1), plan(2, 2, 1, "solved", 3), *given,
    ]  # fmt: skip
    counts = summarize(events, outcome)
    assert (counts.simulation_errors, counts.simulation_errors_fixed) == (1, fixed)
    assert (counts.solver_errors, counts.solver_errors_fixed) == (2, 1 + fixed)


def test_where_no_model_is_asked_each_command_is_a_step() -> None:
    assert (
        summarize([start(), action(), action("no door"), action(success=True)]).steps
        == 3
    )
    assert summarize([start()]).steps == 0


def test_edit_faults_and_the_last_of_each_note_reach_the_row() -> None:
    events: list[Event] = []
    for step, faults in enumerate((("a", "b"), (), ("c",)), start=1):
        events += [call(step), EditApplied(where=Where(step=step), faults=faults)]
    events += [
        Note(facts={"lesson": "old"}),
        Note(facts={"lesson": "new", "trace": "t"}),
    ]
    counts = summarize(events)
    assert counts.edit_faults == 3
    assert counts.notes == {"lesson": "new", "trace": "t"}


def samples(step: int, retry: int, *faults: str) -> list[Event]:
    """One request for so many candidates."""
    of = len(faults)
    return [
        call(step, 1, retry, fault, sample=number, of=of)
        for number, fault in enumerate(faults)
    ]


def chosen(step: int, retry: int, sample: int) -> Chosen:
    return Chosen(where=Where(step=step, retry=retry, sample=sample))


def test_of_several_candidates_the_chosen_one_is_counted_and_the_prompt_once() -> None:
    # Step 1: the second of three has a plan. Step 2: no candidate has one, the first is
    # told of; the retry's first has one.
    events = [
        *samples(1, 0, "no_json", "", ""),
        plan(1, 1, 0, "solved", 1, sample=1),
        chosen(1, 0, 1),
        *samples(2, 0, "", "", "empty"),
        plan(2, 1, 0, "unsolvable"),
        plan(2, 1, 0, "translate_error", sample=1),
        chosen(2, 0, 0),
        *samples(2, 1, "", "", ""),
        plan(2, 1, 1, "solved", 1),
        chosen(2, 1, 0),
    ]
    counts = summarize(events)
    assert counts.calls == 3 and counts.causes == {"solved": 2, "unsolvable": 1}
    assert (counts.solver_errors, counts.solver_errors_fixed) == (1, 1)
    assert (counts.prompt_tokens, counts.completion_tokens) == (
        300,
        90,
    )  # three and nine
    assert counts.model_time_s == 1.5
    lines = list(calls(events))
    assert [line["call"] for line in lines] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [line["prompt_tokens"] for line in lines] == [100, None, None] * 3
    assert [line["latency_s"] for line in lines] == [0.5, None, None] * 3


def test_forced_tokens_and_rollbacks_are_those_of_all_samples() -> None:
    first = stage(completion_tokens=1)
    again = dataclasses.replace(first, drop=2)
    counts = summarize(
        [
            call(sample=0, of=2, stages=(first, again, again)),
            call(sample=1, of=2, stages=(first, again), forced_tokens=0),
            call(step=2, stages=(first,)),
        ]
    )
    assert (counts.calls, counts.rollbacks, counts.forced_tokens) == (2, 3, 6)


def test_a_true_goal_that_the_methods_own_steps_follow_is_no_solver_error() -> None:
    meal = ("prepare meal", "eat meal")
    follow = summarize(
        [call(form="problem"), plan(1, 1, 0, "goal_already_true", then=meal)]
    )
    nothing = summarize([call(form="problem"), plan(1, 1, 0, "goal_already_true")])
    assert (follow.solver_errors, follow.causes) == (0, {"mechanical_steps": 1})
    assert (nothing.solver_errors, nothing.causes) == (1, {"goal_already_true": 1})


ROWS = [
    row(
        "success",
        0,
        steps=2,
        actions=4,
        pddlego_steps=4,
        solver_errors=1,
        solver_errors_fixed=1,
        causes={"solved": 2, "empty": 1},
    ),
    row(
        "success",
        1,
        won=False,
        steps=4,
        actions=8,
        refused=1,
        pddlego_steps=9,
        simulation_errors=2,
        simulation_errors_fixed=2,
        causes={"solved": 3},
    ),
    row(
        "solver_abort",
        2,
        steps=3,
        actions=5,
        pddlego_steps=5,
        solver_errors=2,
        solver_errors_fixed=1,
        edit_faults=2,
        causes={"unsolvable": 6},
    ),
    row(
        "simulation_abort",
        3,
        steps=6,
        actions=3,
        refused=5,
        pddlego_steps=8,
        simulation_errors=1,
    ),
]


def test_measures_of_a_cell() -> None:
    found = measure(ROWS)
    assert (found.success.k, found.success.n) == (2, 4) and found.won == 1
    assert found.solver_errors == 3  # 1 + 0 + 2 + 0
    fixed = found.solver_errors_fixed
    assert (fixed.k, fixed.n) == (2, 3)  # 1 + 1 of 3
    fixed = found.simulation_errors_fixed
    assert found.simulation_errors == 3 and (fixed.k, fixed.n) == (2, 3)
    assert found.solver_aborts == 1 and found.simulation_aborts == 1
    assert found.steps_on_success.mean == 3.0  # (2 + 4) / 2
    assert found.steps_on_failure.mean == 4.5  # (3 + 6) / 2
    assert found.actions.mean == 5.0  # (4 + 8 + 5 + 3) / 4, all trials
    assert found.actions_on_success.mean == 6.0  # (4 + 8) / 2
    assert found.actions_on_success.sd == pytest.approx(
        2.8284, abs=1e-4
    )  # sqrt((4 + 4) / (2-1))
    assert found.refused.mean == 1.5  # (0 + 1 + 0 + 5) / 4
    assert found.refused_on_success.mean == 0.5  # (0 + 1) / 2
    assert found.pddlego_steps_on_success.mean == 6.5  # (4 + 9) / 2
    assert found.edit_faults == 2
    assert found.causes == Counter(solved=5, empty=1, unsolvable=6)


@pytest.mark.parametrize(("k", "n"), [(8, 10), (0, 5), (7, 7), (1, 540)])
def test_wilson_interval(k: int, n: int) -> None:
    interval = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert Rate(k, n).interval == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_what_agrees_within_its_cluster_tells_as_much_as_one_of_it() -> None:
    """Games 0 to 9 are of one house each, with ten samples; then houses of several
    sizes.
    """
    agreed = Rate.of((house, 10 * (house < 9), 10) for house in range(10))
    assert (agreed.k, agreed.n) == (90, 100)
    assert agreed.interval == pytest.approx(Rate(9, 10).interval)
    assert Rate.of((house, 1, 1) for house in range(100)) == Rate(100, 100)
    # 8 games of one house and 4 of others, all won: no more than 12² / (8² + 4) = 2.1
    # games
    won = Rate.of([("hall", 8, 8), *((house, 1, 1) for house in range(4))])
    assert won.effective == pytest.approx(144 / 68)
    assert Rate.of([("hall", 3, 8)]).effective == pytest.approx(1)


def test_samples_that_differ_within_their_clusters_are_as_good_as_independent() -> None:
    assert Rate.of((house, 2, 4) for house in range(10)) == Rate(20, 40)
    between = Rate.of((house, (4, 3, 1, 0)[house % 4], 4) for house in range(20))
    assert 20 < between.effective < 60  # type: ignore[operator]


def test_what_has_no_result_is_taken_as_lost_and_as_won() -> None:
    games = [(game, int(game < 6), 1) for game in range(8)]
    assert if_missing(games, [8, 9]) == (
        Rate(6, 10).interval[0],
        Rate(8, 10).interval[1],
    )
    assert tuple(if_missing(games, [])) == Rate(6, 8).interval
    assert if_missing([], []) == (0.0, 1.0) and math.isfinite(if_missing([], [0])[1])
    # missing games of one house go one way together
    assert if_missing(games, ["hall"] * 8)[0] < if_missing(games, range(8, 16))[0]


Told = dict[str, list[tuple[int, int, int]]]


def after(rows: list[EpisodeRow], asked: Any = ()) -> Told:
    """{kind: [(solved, of so many, without a result)]}."""
    found: Told = {}
    for one in success_after_trials(rows, asked):
        solved = one.games_solved
        found.setdefault(one.tasks, []).append((solved.k, solved.n, one.missing))
    return found


def put(game: int, trial: int, outcome: str, kind: str = "put") -> EpisodeRow:
    return row(
        outcome, game, trial, task_type="" if outcome == "solved_before" else kind
    )


def test_games_count_from_the_trial_that_solved_them() -> None:
    rows = [
        # put: game 0 solved in the second trial, game 1 never, game 2 in the first
        put(0, 0, "step_limit"), put(0, 1, "success"), put(0, 2, "solved_before"),
        put(1, 0, "step_limit"), put(1, 1, "repeated_action"), put(1, 2, "game_lost"),
        put(2, 0, "success"), put(2, 1, "solved_before"), put(2, 2, "solved_before"),
        # cool: one game, solved in the third
        put(3, 0, "step_limit", "cool"), put(3, 1, "step_limit", "cool"),
        put(3, 2, "success", "cool"),
    ]  # fmt: skip
    expected: Told = {
        "all": [(1, 4, 0), (2, 4, 0), (3, 4, 0)],
        "cool": [(0, 1, 0), (0, 1, 0), (1, 1, 0)],
        "put": [(1, 3, 0), (2, 3, 0), (2, 3, 0)],
    }
    assert after(rows) == after(rows[::-1]) == expected


def test_trials_that_do_not_learn_add_up_too() -> None:
    # played again although solved, and failed: it stays solved
    assert after([put(0, 0, "success"), put(0, 1, "step_limit")])["put"] == [
        (1, 1, 0),
        (1, 1, 0),
    ]


def test_what_was_not_played_is_named_and_counts_neither_way() -> None:
    # game 1 is solved, game 2 is not; their second trials are still to come; game 3
    # never began
    rows = [put(0, 0, "step_limit"), put(1, 0, "success"), put(2, 0, "no_action")]
    rows += [put(0, 1, "success")]
    assert after(rows, range(4)) == {
        "all": [(1, 3, 1), (1, 1, 3)],
        "put": [(1, 3, 0), (1, 1, 2)],
    }


def test_games_that_say_nothing_are_left_out() -> None:
    rows = [put(0, 0, "unsolvable_game"), put(0, 1, "unsolvable_game")]
    rows += [
        put(1, 0, "success_at_start"),
        put(1, 1, "solved_before"),
        put(2, 0, "success"),
    ]
    assert after(rows)["put"] == [(1, 1, 0)]
    assert after([]) == {}
