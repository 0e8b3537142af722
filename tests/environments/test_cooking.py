"""CookingWorld as the project plays it: texts, refusals, losing, goals, parameters."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from pddlego_local.core.nouns import Observation, Turn
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import TABLES, Cooking
from tests.tables import table

CASES = table(__file__)

# Game 1 with 5 rooms: in the kitchen a stove, an oven, a knife and a red potato; the
# fridge holds water and a red onion, the pantry behind the western door salt and flour.
# North: the corridor.
RECIPE = ("water", "red onion", "red potato", "salt", "flour")


def hard() -> Cooking:
    return Cooking(rooms=5, ingredients=5)


def play(commands: Sequence[str], game: Cooking) -> tuple[Observation, list[Turn]]:
    """The last observation, and the memory of what was carried out."""
    seen = game.reset(1)
    memory = [Turn("look around", seen.text)]
    for command in commands:
        seen = game.step(command)
        if not seen.refused:
            memory.append(Turn(command, seen.text))
    return seen, memory


GATHER = [
    "take knife",
    "take red potato",
    "open fridge",
    "take water",
    "take red onion",
]
PANTRY = ["open door to west", "move west", "take salt", "take flour", "move east"]
PROCESS = ["chop red potato", "cook red potato in stove"]


@pytest.mark.parametrize(
    ("commands", "told"),
    CASES["feedback_is_specific_to_the_command_and_the_reply"],
)
def test_feedback_is_specific_to_the_command_and_the_reply(
    commands: list[str], told: str
) -> None:
    seen, _ = play(commands, hard())
    assert seen.refused == bool(told)
    assert told in seen.feedback
    assert not seen.lost


def test_what_one_can_carry_may_be_limited() -> None:
    game = Cooking(rooms=5, ingredients=5, distractors=10, limit_inventory=True)
    seen = game.reset(0)
    for _ in range(8):
        things = [c for c in seen.commands if c.startswith(("take ", "open fridge"))]
        seen = game.step(things[0])
    seen = game.step("take cookbook")
    assert "you carry as many things as you can" in seen.feedback


def test_the_episode_begins_with_the_recipe_and_a_look() -> None:
    first = hard().reset(1)
    recipe, _, look = first.text.partition("You are in the kitchen.")
    assert recipe.startswith("Gather all following ingredients")
    assert all(f"\n  {name}\n" in recipe for name in RECIPE)
    assert (
        "a fridge that is closed" in look
        and "To the North you see the corridor." in look
    )
    assert {"take knife", "open fridge", "move north"} <= set(first.commands)
    assert not any(
        "cookbook" in c or c.startswith(("examine", "close")) for c in first.commands
    )


def test_eating_the_meal_wins_and_nothing_before_it() -> None:
    game = hard()
    game.reset(1)
    for command in [*GATHER, *PANTRY, *PROCESS, "prepare meal"]:
        seen = game.step(command)
        assert not (seen.refused or seen.success or seen.lost or game.won()), command
    assert game.step("eat meal").success and game.won()
    assert not (game.reset(1).success or game.won())


@pytest.mark.parametrize("wrong", ["slice red potato", "cook red potato in oven"])
def test_wrong_processing_loses_although_it_is_carried_out(wrong: str) -> None:
    seen, _ = play(["take knife", "take red potato", wrong], hard())
    assert seen.lost and not seen.refused and not seen.success


def test_goals_follow_the_recipe_and_what_is_held() -> None:
    game = hard()
    _, memory = play([], game)
    prepare, hold, explore = game.goals(memory)
    assert prepare.pddl == (
        "(and (have water) (have red_onion) (have red_potato) (have salt) (have flour)"
        " (chopped red_potato) (fried red_potato) (at kitchen))"
    )
    assert prepare.then == ("prepare meal", "eat meal") and not hold.then
    assert "(have flour)" in hold.pddl and "chopped" not in hold.pddl
    assert "(not (visited ?loc))" in explore.pddl
    assert game.wanted(memory) == (*RECIPE, "knife")
    _, memory = play([*GATHER, *PANTRY], game)
    assert game.goals(memory) == (prepare, explore) and game.wanted(memory) == ()
    _, memory = play([*GATHER, "put water in counter"], game)
    assert game.wanted(memory) == ("water", "salt", "flour")
    _, memory = play([*GATHER, "chop red potato", "put knife in counter"], game)
    assert "knife" not in game.wanted(memory)


def test_the_recipe_depends_on_the_fold_and_the_house_does_not() -> None:
    recipes, looks = set(), set()
    for fold in ("train", "dev", "test"):
        text = Cooking(rooms=5, ingredients=5, fold=fold).reset(1).text
        recipe, _, look = text.partition("You are in")
        recipes.add(recipe)
        looks.add(look)
    assert len(recipes) > 1 and len(looks) == 1


@pytest.mark.parametrize(
    ("environment", "parameters"),
    [
        (Coin, {"rooms": 2}),
        *((environment, {"rooms": 12}) for environment in (Coin, Cooking)),
        *((environment, {"doors": 2}) for environment in (Coin, Cooking)),
        *((environment, {"room": 5}) for environment in (Coin, Cooking)),
        (Cooking, {"rooms": 0}),
        (Cooking, {"ingredients": 6}),
        (Cooking, {"distractors": 11}),
    ],
)
def test_impossible_parameters_never_reach_the_game(
    environment: Any, parameters: dict[str, int]
) -> None:
    with pytest.raises(ValidationError, match=next(iter(parameters))):
        environment(**parameters)


@pytest.mark.parametrize("rooms", [1, 11])
def test_the_limits_are_played(rooms: int) -> None:
    assert (
        "cookbook" in Cooking(rooms=rooms, ingredients=1, distractors=10).reset(0).text
    )


def test_every_action_has_an_example_of_its_own_command() -> None:
    for action in TABLES.actions:
        said = re.sub(r"\{\w+\}", "…", action.command)
        assert re.sub(r"\[[a-z ]+\]", "…", action.example) == said
