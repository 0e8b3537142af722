"""PDDLego+ through the real game and the real planner, with answers given in
advance.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pddlego_local.core.nouns import Budget, Completion, Turn
from pddlego_local.core.record.events import Restart
from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.coin.reference import DOMAIN
from pddlego_local.methods.pddlego_plus import PddlegoPlus, repeated
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods import playing
from tests.methods.playing import Events

GAME = 1  # 11 rooms: kitchen, closed doors south (backyard) and west (pantry)


def problem(facts: str, goal: str) -> str:
    return (
        "(define (problem p) (:domain exploration) (:objects kitchen backyard driveway"
        f" north_room - location north south east west - direction) (:init {facts})"
        f" (:goal {goal}))"
    )


def answer(facts: str, goal: str, domain: str = DOMAIN) -> str:
    return json.dumps({"df": domain, "pf": problem(facts, goal)})


SOUTH = answer("(at kitchen) (closed-door kitchen backyard south)", "(at backyard)")
THROUGH_THE_DOOR = answer(
    "(at kitchen) (connected kitchen backyard south)", "(at backyard)"
)
DOOR_IN_THE_WAY = answer(
    "(at backyard) (connected backyard north_room west)", "(at north_room)"
)
UNREACHABLE = answer("(at kitchen)", "(at backyard)")
ALREADY = answer("(at kitchen)", "(at kitchen)")
BROKEN = json.dumps({"df": "(define (domain exploration", "pf": "(define"})
FURTHER = answer("(at backyard) (connected backyard driveway south)", "(at driveway)")


def play(
    planner: FastDownward,
    model: Any,
    game: int = GAME,
    rounds: int = 20,
    **settings: Any,
) -> tuple[str, Events]:
    house = Coin(rooms=11, budget=Budget(unit="rounds", limit=rounds))
    return playing.play(PddlegoPlus(**settings), house, model, planner, game=game)


def numbers(events: Events, *names: str) -> list[int]:
    row = summarize(events)
    return [getattr(row, name) for name in names]


@pytest.mark.parametrize(
    ("bad", "cause", "told"),
    [
        (BROKEN, "translate_error", ""),
        (UNREACHABLE, "unsolvable", ""),
        (ALREADY, "goal_already_true", "already"),
        ("I cannot do that.", "no_json", 'no JSON object of the form {"df"'),
        ("", "empty", "empty"),
        (Completion('{"df": "(def', "length", 9, 9, 0.1), "truncated", "cut off"),
        (
            Completion("", "unfinished_thought", 9, 9, 0.1, "hm"),
            "unfinished_thought",
            "thinking",
        ),
    ],
)
def test_the_solver_loop_tells_what_was_wrong_and_asks_again(
    planner: FastDownward, bad: Any, cause: str, told: str
) -> None:
    model = Scripted([bad, SOUTH])
    outcome, events = play(planner, model, rounds=1)
    assert outcome == "step_limit"
    second = model.asked[1].messages[0].content
    said = second.partition("This is what it said:\n")[2].partition(
        "\nReview both files"
    )[0]
    assert len(said.strip()) > 20
    assert told in said
    assert summarize(events).causes == {cause: 1, "solved": 1}
    assert numbers(events, "solver_errors", "solver_errors_fixed") == [1, 1]


def test_after_five_retries_without_a_plan_the_episode_ends(
    planner: FastDownward,
) -> None:
    model = Scripted([BROKEN] * 7)
    outcome, events = play(planner, model)
    assert outcome == "solver_abort"
    assert len(model.asked) == 6
    assert numbers(events, "solver_errors", "solver_errors_fixed", "actions") == [
        1,
        0,
        0,
    ]


def test_a_refused_action_resets_the_game_and_is_explained(
    planner: FastDownward,
) -> None:
    model = Scripted([SOUTH, DOOR_IN_THE_WAY, FURTHER])
    outcome, events = play(planner, model, rounds=2)
    assert outcome == "step_limit"
    told = model.asked[2].messages[0].content
    assert "carrying it out failed:\nAction: move west" in told
    assert "the door in that direction is closed" in told
    (restart,) = (event for event in events if isinstance(event, Restart))
    assert restart.replayed == ("open door to south", "move south")
    assert numbers(events, "simulation_errors", "simulation_errors_fixed") == [1, 1]
    assert numbers(events, "steps", "actions", "refused") == [2, 3, 1]


def test_after_five_refused_plans_the_episode_ends(planner: FastDownward) -> None:
    model = Scripted([THROUGH_THE_DOOR] * 6)
    outcome, events = play(planner, model)
    assert outcome == "simulation_abort"
    assert len(model.asked) == 5
    assert numbers(events, "simulation_errors", "simulation_errors_fixed") == [1, 0]
    assert "Open that door first" in model.asked[1].messages[0].content


@pytest.mark.parametrize(
    ("keep_prefix", "replayed"),
    [(False, []), (True, ["open door to south", "move south"])],
)
def test_the_successful_prefix_is_kept_only_if_asked(
    planner: FastDownward, keep_prefix: bool, replayed: list[str]
) -> None:
    wrong_after_door = answer(
        "(at kitchen) (closed-door kitchen backyard south) (connected backyard"
        " north_room up)",
        "(at north_room)",
    ).replace("west - direction", "west up - direction")
    model = Scripted([wrong_after_door, SOUTH])
    _, events = play(planner, model, rounds=1, max_attempts=2, keep_prefix=keep_prefix)
    (restart,) = (event for event in events if isinstance(event, Restart))
    assert list(restart.replayed) == replayed


def test_an_action_that_the_environment_does_not_have_is_a_simulation_error(
    planner: FastDownward,
) -> None:
    invented = DOMAIN.replace(":action move", ":action teleport")
    facts = "(at kitchen) (connected kitchen backyard south)"
    model = Scripted([answer(facts, "(at backyard)", invented), SOUTH])
    outcome, _ = play(planner, model, rounds=1)
    assert outcome == "step_limit"
    assert "(teleport kitchen backyard south) is not one of the allowed actions" in (
        model.asked[1].messages[0].content
    )


@pytest.mark.parametrize(
    ("variant", "template", "hint"),
    [
        ("detailed", True, True),
        ("simple", False, False),
        ("simple_goal", True, False),
        ("simple_hint", False, True),
    ],
)
def test_prompt_variants(
    planner: FastDownward, variant: str, template: bool, hint: bool
) -> None:
    model = Scripted([SOUTH])
    play(planner, model, rounds=1, variant=variant)
    text = model.asked[0].messages[0].content
    assert ("(at ?location)" in text) == template
    assert ("Put into the goal" in text) == hint
    assert "previous domain file" not in text
    assert "This is what it said" not in text


def test_later_prompts_carry_the_previous_files_and_the_memory(
    planner: FastDownward,
) -> None:
    model = Scripted([SOUTH, FURTHER])
    play(planner, model, rounds=2)
    text = model.asked[1].messages[0].content
    assert "This is the previous domain file:\n(define (domain exploration)" in text
    assert "(closed-door kitchen backyard south)" in text
    assert "Action: look around\nYou are in the kitchen." in text
    assert "Action: move south\nYou are in the backyard." in text


def turns(commands: str) -> Sequence[Turn]:
    return [Turn("look around", ""), *(Turn(command, "") for command in commands)]


@pytest.mark.parametrize(
    ("commands", "repetition"),
    [
        ("", ""),
        ("ab", ""),
        ("aab", ""),
        ("baaa", "a"),
        ("ababab", "ab"),
        ("abababc", ""),
        ("abab", ""),
    ],
)
def test_repetition_is_noticed_when_it_ends_the_history_three_times(
    commands: str, repetition: str
) -> None:
    assert "".join(repeated(turns(commands))) == repetition
