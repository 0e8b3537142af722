"""Every method on the highest rung, in real games, by a model that knows nothing:
whatever it answers is read, and no PDDL of its own is refused. About 20 s.
"""

import contextlib

import pytest

from pddlego_local.core.record.events import Call, Plan
from pddlego_local.decoding.settings import Decoding
from pddlego_local.pddl.check import check
from pddlego_local.pddl.sections import with_goal
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.episode.drawing import RandomLogits
from tests.methods.playing import Events, of, play
from tests.methods.test_every_method import IN_WORDS, ONE_ANSWER_A_STEP


@pytest.mark.parametrize("environment", ["coin", "cooking_hard"])
def test_every_method_plays_grounded(planner: FastDownward, environment: str) -> None:
    events: Events = []
    for method in (*ONE_ANSWER_A_STEP, *IN_WORDS):
        options = [
            f"environment={environment}",
            f"method={method}",
            "environment.budget.limit=5",
        ]
        config = compose_cell([*options, "model=reference"])
        decoding = Decoding(rung="grounded", goal="unmet", max_tokens=3000)
        with contextlib.closing(config.build("environment")) as game:
            outcome, played = play(
                config.build("method"),
                game,
                RandomLogits(1),
                planner,
                decoding=decoding,
            )
        assert outcome
        events += played
    calls = of(events, Call)
    assert {call.fault for call in calls} <= {"", "truncated", "empty"}
    first = (
        {"problem", "edit"} if environment == "coin" else {"seen"}
    )  # gathering comes first
    assert {"pddl", "command", "move", "choice"} | first <= {
        call.form for call in calls
    }
    for plan in of(events, Plan):
        if plan.outcome == "translate_error":
            # The goal is the method's, and may name what no edit has added.
            without_goal = with_goal(plan.problem, "(and)")
            assert check(plan.domain, without_goal).accepted
        else:
            assert plan.outcome in ("solved", "unsolvable", "goal_already_true")
