"""DEPS through the real games, with answers given in advance; about 4 s."""

from itertools import pairwise

import pytest

from pddlego_local.core.nouns import Budget, Completion
from pddlego_local.core.record.events import Call
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.methods.deps import Deps
from pddlego_local.methods.zero_shot_replan import ZeroShotReplan
from tests.methods.playing import commands
from tests.methods.talking import (
    BEGIN_AGAIN,
    TO_THE_COIN,
    asked,
    noted,
    plan,
    play,
    rounds,
)

EAST_FIRST = ["> move east", "done"]
CUT = Completion('{"reason": "so I', "length", 9, 9, 0.1)
UNFINISHED = Completion("", "unfinished_thought", 9, 9, 0.1, "hm")


def test_a_plan_is_carried_out_sub_goal_by_sub_goal() -> None:
    answers = [plan("go east", "find the coin"), *EAST_FIRST, *TO_THE_COIN[1:]]
    outcome, model, events = play(Deps(), answers)
    assert outcome == "success"
    assert commands(events) == ["move east", "open door to east", "move east"]
    assert [question.form.name for question in model.asked] == [
        "goals",
        *["choice"] * 4,
    ]
    assert [e.where.step for e in events if isinstance(e, Call)] == [1, 1, 2, 2, 3]
    assert noted(events, "subgoals") == {"accomplished": 1, "success": 1}
    assert noted(events, "plans") == 1


def test_a_failure_is_described_explained_and_planned_anew_from_there() -> None:
    outcome, model, _ = play(
        Deps(),
        [
            plan("go east", "go south", "find the coin"),
            *EAST_FIRST,
            "fail: I see no way south.",
            '{"text": "The door to the east leads on."}',
            plan("go through the eastern door"),
            *TO_THE_COIN[1:],
        ],
    )
    assert outcome == "success"
    (explaining,) = asked(model, "text")
    assert explaining.startswith(
        "Descriptor: Step 1 succeeded: go east.\n"
        "Step 2 failed: go south. I see no way south.\n"
        "You are in the living room.\n"
    )
    assert "Action: move east\nYou are in the living room." in explaining
    assert "find the coin" not in explaining
    first, second = (
        question.messages for question in model.asked if question.form.name == "goals"
    )
    assert [message.content for message in second[1:4]] == [
        '{"goals":["go east","go south","find the coin"]}',
        explaining,
        '{"text":"The door to the east leads on."}',
    ]
    assert second[0] == first[0]
    assert "from step 2 on" in second[4].content
    chosen_from = asked(model, "choice")[-2]
    assert chosen_from.count("Your goal is to: go through the eastern door") == 1


def test_a_plan_that_is_done_without_the_task_is_a_failure_too() -> None:
    answers = [plan("go east"), *EAST_FIRST, BEGIN_AGAIN, plan("on"), *TO_THE_COIN[1:]]
    outcome, model, _ = play(Deps(), answers)
    assert outcome == "success"
    (explaining,) = asked(model, "text")
    done = "All steps of the plan are done, but the task is not."
    assert f"Step 1 succeeded: go east.\n{done}\n" in explaining
    assert "from step 2 on" in asked(model, "goals")[1]


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize(
    ("method", "explained"), [(Deps, [BEGIN_AGAIN]), (ZeroShotReplan, [])]
)
def test_re_plans_have_a_limit(
    method: type[Deps], explained: list[str], limit: int
) -> None:
    once = [plan("fly"), "fail: I cannot fly.", *explained]
    outcome, model, events = play(method(max_replans=limit), once * 9)
    assert outcome == "replan_limit"
    assert len(asked(model, "goals")) == noted(events, "plans") == limit + 1
    assert len(asked(model, "text")) == limit * len(explained)
    assert noted(events, "subgoals") == {"failed": limit + 1}


def test_the_dialogues_grow_and_their_roles_take_turns() -> None:
    once = [plan("fly"), "> move west", "fail: I cannot fly.", "", BEGIN_AGAIN]
    _, model, _ = play(Deps(max_replans=3), once * 9)
    for question in model.asked:
        roles = [message.role for message in question.messages]
        assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
        assert roles[-1] == "user"
        for message in question.messages[:-1]:
            assert "Your answer was empty" not in message.content
    of_planner = [q for q in model.asked if q.form.name in ("goals", "text")]
    planner = [question.messages for question in of_planner]
    for before, after in pairwise(planner):
        assert after[: len(before) - 1] == before[:-1]
    assert len(planner[-1]) == 13


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("[I cannot say {", "no JSON object of the form"),
        (
            '{"goals": "fly", "reason": "", "number": 99, "text": 1}',
            "exactly this form",
        ),
        (CUT, "cut off"),
        (UNFINISHED, "never finished thinking"),
    ],
)
def test_an_unusable_answer_is_asked_for_again_and_told(
    bad: str | Completion, told: str
) -> None:
    # of the planner, the controller, the explainer, the planner again
    for position in range(4):
        good = [plan("a"), "fail: no.", BEGIN_AGAIN, plan("b"), *TO_THE_COIN]
        outcome, model, events = play(Deps(), [*good[:position], bad, *good[position:]])
        assert outcome == "success"
        before, after = (
            question.messages for question in model.asked[position : position + 2]
        )
        assert after[:-1] == before[:-1]
        assert after[-1].content.startswith(before[-1].content)
        assert told in after[-1].content.removeprefix(before[-1].content)
        retries = [event.where.retry for event in events if isinstance(event, Call)]
        assert retries == [int(i == position + 1) for i in range(len(retries))]


@pytest.mark.parametrize("bad", [[""] * 3, [plan(" ")]])
def test_without_a_plan_the_episode_ends(bad: list[str]) -> None:
    outcome, model, events = play(Deps(max_retries=2), bad)
    assert outcome == "no_plan"
    assert len(model.asked) == len(bad)
    assert not commands(events)
    before = [plan("a"), "> move east", "fail: no.", BEGIN_AGAIN]
    outcome, model, _ = play(Deps(max_retries=2), [*before, *bad])
    assert outcome == "no_plan"
    assert len(model.asked) == 4 + len(bad)


def test_an_explainer_without_a_usable_answer_leaves_the_description() -> None:
    answers = [plan("a"), "fail: I cannot.", "", "", plan("b"), *TO_THE_COIN]
    outcome, model, _ = play(Deps(max_retries=1), answers)
    assert outcome == "success"
    _, replanning = [q for q in model.asked if q.form.name == "goals"]
    roles = [message.role for message in replanning.messages]
    assert roles == ["user", "assistant", "user"]
    told = replanning.messages[-1].content
    assert told.startswith("Descriptor: Step 1 failed: a. I cannot.")
    assert "from step 1 on" in told


def test_sub_goals_without_commands_end_the_episode() -> None:
    once = [plan("a", "b", "c"), "done", "done", "done", BEGIN_AGAIN]
    outcome, _, events = play(Deps(max_replans=99, max_idle=8), once * 9)
    assert outcome == "no_progress"
    assert noted(events, "subgoals") == {"accomplished": 7, "no_progress": 1}
    goals = [plan(*"abcdefghij"), "done", "> move west", *["done"] * 9]
    outcome, _, events = play(Deps(max_idle=8), goals)
    assert outcome == "no_progress"  # the count begins again after a command
    assert noted(events, "subgoals") == {"accomplished": 9, "no_progress": 1}


@pytest.mark.parametrize("unit", ["actions", "rounds"])
def test_each_command_is_a_step_of_the_budget(unit: str) -> None:
    house = Coin(budget=Budget(unit=unit, limit=3))  # type: ignore[arg-type]
    answers = [plan("a", "b"), "> move west", "done", *TO_THE_COIN[:2]]
    outcome, model, events = play(Deps(), answers, house)
    assert outcome == "step_limit"
    assert len(model.asked) == 5
    assert len(commands(events)) == 3
    assert play(Deps(), [plan("a"), *TO_THE_COIN], rounds(3))[0] == "success"


def test_a_refused_command_is_told_why() -> None:
    answers = [plan("go west"), "> move west", "fail: It is locked.", BEGIN_AGAIN, ""]
    _, model, _ = play(Deps(max_retries=0), answers)
    refused = (
        "Action: move west\nYou can't move there, the door is closed.\n"
        '"move west" failed because the door in that direction is closed.'
    )
    assert asked(model, "choice")[1].startswith(refused)
    assert refused in asked(model, "text")[0]


def test_a_lost_game_ends_the_episode() -> None:
    kitchen = Cooking(rooms=5, ingredients=5, budget=Budget(unit="actions", limit=50))
    answers = [plan("take both", "slice"), "> take knife", "> take red potato", "done"]
    outcome, model, _ = play(Deps(), [*answers, "> slice red potato"], kitchen, game=1)
    assert outcome == "game_lost"
    last = asked(model, "choice")[-1]
    assert "You are in the kitchen. You carry knife and red potato." in last
    assert "Your goal is to: slice." in last


def test_each_sub_goal_has_a_dialogue_of_its_own() -> None:
    answers = [plan("go west", "x"), *EAST_FIRST, "fail: no."]
    _, model, _ = play(Deps(max_replans=0), answers)
    first, second, third = asked(model, "choice")[:3]
    assert "You are in the kitchen. Your goal is to: go west.\n" in first
    assert second.startswith("Action: move east\nYou are in the living room.")
    assert third.startswith("You control a player")
    assert "Action: look around\nYou are in the kitchen." in third
