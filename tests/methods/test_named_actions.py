"""Methods in which the model, or chance, names the next action."""

import contextlib
import json

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Budget
from pddlego_local.core.record.events import ActionTaken, Restart
from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.described.game import Described
from pddlego_local.methods.action_gen import ActionGen
from pddlego_local.methods.plangen import PlanGen
from pddlego_local.methods.random_policy import RandomPolicy
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.playing import commands, of, play


def named(*commands: str) -> Scripted:
    return Scripted(json.dumps({"action": command}) for command in commands)


def house(actions: int) -> Coin:
    return Coin(rooms=11, budget=Budget(unit="actions", limit=actions))


def test_refused_actions_cost_a_step_and_stay_in_the_history(
    planner: FastDownward,
) -> None:
    model = named("move south", "open door to south", "move south")
    outcome, events = play(ActionGen(), house(3), model, planner)
    assert outcome == "step_limit"
    row = summarize(events)
    assert (row.actions, row.refused) == (2, 1)
    last = model.asked[-1].messages[0].content
    assert "Action: move south\nYou can't move there, the door is closed." in last
    assert "Remember which rooms" in last
    assert "open door to west" in last


@pytest.mark.parametrize("name", ["coin", "cooking", "alfworld"])
def test_a_command_with_control_characters_is_refused(
    planner: FastDownward, name: str
) -> None:
    """TextWorldExpress alone would overlook a NUL and open the door."""
    bad = ["open door to south\0", "\0", "\x1b[2Jlook"]
    build = {"coin": Coin, "cooking": Cooking, "alfworld": Alfworld}[name]
    with contextlib.closing(build(budget=Budget(unit="actions", limit=3))) as game:
        outcome, events = play(ActionGen(), game, named(*bad), planner)
    given = of(events, ActionTaken)
    assert outcome == "step_limit"
    assert all(action.refused for action in given)
    assert [action.command for action in given] == [
        "open door to south␀",
        "␀",
        "␛[2Jlook",
    ]


@pytest.mark.parametrize(
    "bad", ["I would move.\nOr not?", '{"deed": "move"}', '{"action": " "}']
)
def test_an_answer_without_an_action_is_sampled_again(
    planner: FastDownward, bad: str
) -> None:
    model = Scripted([bad, '{"action": "open door to south"}'])
    outcome, _ = play(ActionGen(), house(1), model, planner)
    assert outcome == "step_limit"
    assert model.asked[0].messages == model.asked[1].messages
    outcome, events = play(
        ActionGen(max_retries=2), house(9), Scripted([bad] * 3), planner
    )
    assert outcome == "no_action"
    assert not of(events, ActionTaken)


def test_plangen_takes_a_refused_action_back_and_says_why(
    planner: FastDownward,
) -> None:
    model = named("open door to south", "move west", "move south")
    outcome, events = play(PlanGen(), house(2), model, planner)
    assert outcome == "step_limit"
    (restart,) = of(events, Restart)
    assert restart.replayed == ("open door to south",)
    third = model.asked[2].messages[0].content
    assert "Your last answer did not work" in third
    assert "Open that door first" in third
    row = summarize(events)
    assert (row.simulation_errors, row.simulation_errors_fixed) == (1, 1)
    assert (row.actions, row.refused) == (2, 1)


def test_plangen_gives_up_after_five_attempts(planner: FastDownward) -> None:
    model = named(
        "move west", "move west", "fly", "move north", "move west", "move west"
    )
    outcome, events = play(PlanGen(), house(9), model, planner)
    assert outcome == "simulation_abort"
    assert len(model.asked) == 5
    assert len(of(events, Restart)) == 4


def test_plangen_tells_a_faulty_answer_apart_and_need_not_restart(
    planner: FastDownward,
) -> None:
    model = Scripted(["Let me think.\nIs it open?", '{"action": "open door to south"}'])
    outcome, events = play(PlanGen(), house(1), model, planner)
    assert outcome == "step_limit"
    assert not of(events, Restart)
    assert 'form {"action": "..."}' in model.asked[1].messages[0].content


def test_plangen_is_shown_the_valid_commands_and_memory(planner: FastDownward) -> None:
    model = named("open door to south", "move south")
    play(PlanGen(), house(2), model, planner)
    text = model.asked[1].messages[0].content
    for item in (
        "These are valid actions here: close door to south, ",
        "move south, ",
        "Action: look around",
        "one action only",
    ):
        assert item in text
    assert (
        "take coin" not in text and "[" not in text
    )  # no forms besides (appendix C.5)


def test_chance_asks_nobody_and_is_repeatable(planner: FastDownward) -> None:
    played = []
    for _ in range(2):
        outcome, events = play(RandomPolicy(), house(12), Scripted([]), planner)
        played.append(commands(events))
    assert played[0] == played[1]
    assert len(played[0]) == 12
    assert len(set(played[0])) > 2
    counts = summarize(events, outcome)
    assert (outcome, counts.calls, counts.steps) == ("step_limit", 0, 12)


def test_chance_needs_a_list_of_commands(planner: FastDownward) -> None:
    with pytest.raises(ConfigError, match="described does not list the valid commands"):
        play(RandomPolicy(), Described(), named(), planner)
