"""The examples that DEPS and its baselines show: they are what a model would really be
asked and answer. And the situation that is read from the games' texts; about 3 s.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from pddlego_local.core.nouns import Completion, Turn
from pddlego_local.core.protocols import Environment
from pddlego_local.decoding.forms import (
    GOALS,
    PARALLEL_GOALS,
    TEXT,
    Fields,
    Form,
    choice,
)
from pddlego_local.environments import family
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.explored.game import Explored
from pddlego_local.episode.reading.answer import read_constrained
from pddlego_local.methods import prompting
from pddlego_local.methods.shared.subgoals import Situation

OFFICE = Explored.model_validate(
    {"world": "office", "budget": {"unit": "actions", "limit": 100}}
)
ENVIRONMENTS = (
    *(f"pddlego_local.environments.{name}" for name in ("alfworld", "coin", "cooking")),
    OFFICE.package,
)


def words(environment: str) -> dict[str, Any]:
    found: dict[str, Any] = family.words(environment, "prompts/deps.yaml")
    return found


def situation(environment: str, memory: list[Turn]) -> str:
    return prompting.render(
        "deps/situation", environment, situation=Situation(memory)
    ).text


def holds(answer: str, form: Form[Fields]) -> Any:
    """The value, as drawn under the strictest grammar."""
    value = read_constrained(Completion(answer, "stop", 0, 0, 0.0), form).value
    assert value, answer
    return value


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_examples_of_the_controller_are_possible_dialogues(environment: str) -> None:
    for example in words(environment)["controller"]:
        expected = ""
        for number, turn in enumerate(example["choices"]):
            assert turn["commands"] == sorted(turn["commands"])
            assert turn.get("seen", "").startswith(expected)
            last = len(turn["commands"]) + 1
            chosen = holds(turn["answer"], choice(last)).number
            is_over = chosen in (0, last)
            assert is_over == (number == len(example["choices"]) - 1)
            assert is_over == ("the goal" in holds(turn["answer"], choice(last)).reason)
            expected = "" if is_over else f"Action: {turn['commands'][chosen - 1]}\n"


def answers(environment: str) -> Iterator[tuple[str, Form[Fields]]]:
    for example in words(environment)["planner"]:
        yield example["goals"], GOALS
        if "parallel_goals" in example:
            yield example["parallel_goals"], PARALLEL_GOALS
        for failure in example["failures"]:
            yield failure["explanation"], TEXT
            yield failure["goals"], GOALS
    for turn in words(environment)["monologue"]:
        yield turn["goals"], GOALS


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_examples_of_the_planner_have_the_form_that_is_asked_for(
    environment: str,
) -> None:
    for answer, form in answers(environment):
        holds(answer, form)
    assert all(
        len(holds(turn["goals"], GOALS).goals) == 1
        for turn in words(environment)["monologue"]
    )


LIVING_ROOM = "move east, open door to east, move north"
PUT_BACK = "take knife, take flour, open fridge, put knife in fridge"
TO_THE_PANTRY = "take knife, open door to west, move west"
TO_ROOM_3 = "open the door to room 3, go to room 3"


@pytest.mark.parametrize(
    ("environment", "commands", "told"),
    [
        (Coin(), "", "You are in the kitchen."),
        (Coin(), "move east", "You are in the living room."),
        (Coin(), LIVING_ROOM, "You are in the living room."),
        (Cooking(rooms=5), "", "You are in the kitchen. You carry nothing."),
        (Cooking(rooms=5), "take knife", "You are in the kitchen. You carry knife."),
        (Cooking(rooms=5), PUT_BACK, "You are in the kitchen. You carry nothing."),
        (Cooking(rooms=5), TO_THE_PANTRY, "You are in the pantry. You carry knife."),
        (OFFICE, "", "You are in room 4."),
        (OFFICE, TO_ROOM_3, "You are in room 3."),
    ],
)
def test_the_situation_is_read_from_the_games_own_words(
    environment: Environment, commands: str, told: str
) -> None:
    game = {"coin": 5, "cooking": 1, "explored": 0}[environment.name]
    memory = [Turn("look around", environment.reset(game).text)]
    for command in filter(None, commands.split(", ")):
        memory.append(Turn(command, environment.step(command).text))
    assert situation(environment.package, memory) == told


def test_the_situation_in_alfworld() -> None:
    alfworld = ENVIRONMENTS[0]
    texts = [
        (
            "You are in the middle of a room. Looking quickly around you, you see a"
            " fridge 1."
        ),
        "You arrive at fridge 1. The fridge 1 is closed.",
        "You open the fridge 1. The fridge 1 is open. In it, you see a mug 3.",
        "You pick up the mug 3 from the fridge 1.",
        "Nothing happens.",
        "You move the mug 3 to the fridge 1.",
    ]
    memory = [Turn("", text) for text in texts]
    assert (
        situation(alfworld, memory[:1])
        == "You are in the middle of the room. You carry nothing."
    )
    assert situation(alfworld, memory[:5]) == "You are at fridge 1. You carry mug 3."
    assert situation(alfworld, memory) == "You are at fridge 1. You carry nothing."


def test_a_plan_with_marks_is_the_plan_that_is_shown_without_them() -> None:
    for environment in ENVIRONMENTS:
        for example in words(environment)["planner"]:
            if "parallel_goals" in example:
                marked = holds(example["parallel_goals"], PARALLEL_GOALS).goals
                assert [goal.removeprefix("also ") for goal in marked] == holds(
                    example["goals"], GOALS
                ).goals
