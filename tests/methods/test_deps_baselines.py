"""The baselines of DEPS with answers given in advance, and the ceiling of all four;
about 40 s, a half of it in ALFWorld.
"""

from collections.abc import Sequence

import pytest

from pddlego_local.methods.inner_monologue import InnerMonologue
from pddlego_local.methods.zero_shot_planner import ZeroShotPlanner
from tests.methods.talking import TO_THE_COIN, asked, noted, plan, play, rounds

EAST_FIRST = ["> move east", "done"]


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([plan("find it"), *TO_THE_COIN], "success"),
        ([plan("go east", "go on"), *EAST_FIRST, *TO_THE_COIN[1:]], "success"),
        ([plan("go east", "fly"), *EAST_FIRST, "fail: no."], "subgoal_failed"),
        ([plan("fly", "go east"), *[""] * 6], "subgoal_failed"),
        ([plan("go east", "rest"), *EAST_FIRST, "done"], "task_not_done"),
        (
            [plan("go east"), *TO_THE_COIN[:1], "> move west", "> move east"],
            "step_limit",
        ),
        ([plan(*["rest"] * 30), *["done"] * 20], "no_progress"),
        ([""] * 6, "no_plan"),
        ([plan()] * 6, "no_plan"),
    ],
)
def test_a_zero_shot_plan_is_never_changed(
    answers: Sequence[str], outcome: str
) -> None:
    ended, model, _ = play(ZeroShotPlanner(), answers, rounds(3))
    assert ended == outcome
    assert len(model.asked) == len(answers)


def test_inner_monologue_plans_one_sub_goal_after_the_other() -> None:
    answers = [
        *(plan("go east", "never carried out"), *EAST_FIRST),
        *(plan("fly"), "fail: No wings."),
        *(plan("go through the door"), *TO_THE_COIN[1:]),
    ]
    outcome, model, events = play(InnerMonologue(), answers)
    assert outcome == "success"
    assert noted(events, "subgoals") == {"accomplished": 1, "failed": 1, "success": 1}
    first, second, third = asked(model, "goals")
    assert "with the one sub-goal that is next" in first
    assert "all sub-goals" not in first
    assert second.startswith(
        "Descriptor: Step 1 succeeded: go east.\nYou are in the living room."
    )
    assert "Action: move east\nYou are in the living room. To the East" in second
    assert third.startswith("Descriptor: Step 2 failed: fly. No wings.")
    assert "never carried out" not in "".join(asked(model, "choice"))
    assert "All steps of the plan are done" not in second


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([plan("rest"), "done"] * 20, "no_progress"),
        ([plan("fly"), "fail: no."] * 20, "no_progress"),
        ([plan("go east"), *EAST_FIRST, *[""] * 6], "no_plan"),
        ([plan("go east"), *EAST_FIRST, *[plan()] * 6], "no_plan"),
        ([plan("go"), "> move east", "> move west", "> move east"], "step_limit"),
    ],
)
def test_inner_monologue_comes_to_an_end(answers: Sequence[str], outcome: str) -> None:
    ended, model, _ = play(InnerMonologue(), answers, rounds(3))
    assert ended == outcome
    assert len(model.asked) == len(answers)
