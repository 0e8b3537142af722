"""The rule-based reference wins CookingWorld, and reads all that its texts tell."""

import pytest

from pddlego_local.core.nouns import Turn
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.cooking.reference import (
    contents,
    formalize,
    parallel,
    subgoals,
)
from pddlego_local.environments.cooking.text import Kitchen


def test_contents_name_the_likely_containers_and_stop_when_all_is_found() -> None:
    house = Cooking(rooms=2, ingredients=2)
    memory = [
        Turn("look around", house.reset(2).text)
    ]  # dice the parsley; no knife in sight
    closed, items = contents(memory)
    assert closed == ("fridge", "cutlery drawer", "kitchen cupboard") and items == (
        "cookbook",
    )
    elsewhere = [Turn("move", "You are in the pantry. To the East you see the street.")]
    assert contents([*memory, *elsewhere]) == ((), ())
    for command in ("open fridge", "open kitchen cupboard"):
        memory.append(Turn(command, house.step(command).text))
    assert contents(memory) == ((), ("cookbook", "parsley", "block of cheese", "knife"))


LOOK = (
    "You are in the kitchen. In one part of the room you see a stove. There is also an"
    " oven. You also see An open fridge, that contains a raw chicken leg, a fried"
    " chopped red potato, and some water. In another part of the room you see a trash"
    " can that is closed. There is also an open cutlery drawer, that is empty. You also"
    " see a dining chair, that has nothing on it. There is also a counter that has a"
    " knife, a red hot pepper, and an raw egg on it. \nTo the West you see the"
    " corridor."
)


def test_it_reads_all_that_a_look_tells() -> None:
    known = Kitchen.read([Turn("look around", LOOK)])
    things = ["chicken leg", "red potato", "water", "knife", "red hot pepper", "egg"]
    assert known.items == dict.fromkeys(things, "kitchen")
    assert known.done == {("fried", "red potato"), ("chopped", "red potato")}
    assert list(known.appliances) == [("stove", "kitchen"), ("oven", "kitchen")]
    assert list(known.closed) == [("trash can", "kitchen")]
    assert known.house.exits == {"kitchen": {"west": "corridor"}}


@pytest.mark.parametrize(
    ("verb", "appliance", "done"),
    [
        ("fry", "stove", "(fried egg)"),
        ("roast", "oven", "(roasted egg)"),
        ("grill", "toaster", "(grilled egg)"),
        ("grill", "barbeque", "(grilled egg)"),
    ],
)
def test_each_appliance_does_what_the_recipe_asks(
    verb: str, appliance: str, done: str
) -> None:
    text = (
        f"Ingredients:\n  egg\n\nDirections:\n  {verb} the egg\n  prepare meal\n"
        f"You are in the kitchen. You see a {appliance}. There is a counter that has an"
        " egg on it."
    )
    memory = [Turn("look around", text)]
    _, _, wanted = formalize(memory)[1].partition("(:goal")
    assert "(have egg)" in wanted and done in wanted
    other = text.replace(f"a {appliance}.", "a trash can.")
    assert done not in formalize([Turn("look around", other)])[1]


def test_sub_goals_come_in_a_fixed_order_and_in_groups_that_have_none() -> None:
    house = Cooking(rooms=5, ingredients=5)
    memory = [Turn("look around", house.reset(1).text)]
    things = ("knife", "water", "red onion", "red potato", "salt", "flour")
    takes, steps, meal, end = parallel(memory)
    assert takes == tuple(f"find and take the {thing}" for thing in things)
    assert len(steps) == 2 and len(meal) == len(end) == 1
    assert subgoals(memory) == (*takes, *steps, *meal, *end)
    memory.append(Turn("take knife", house.step("take knife").text))
    assert parallel(memory)[0] == takes[1:]


def test_what_is_taken_is_gone_and_what_is_put_down_is_back() -> None:
    taken = [Turn("look around", LOOK), Turn("take egg", "You take the egg.")]
    known = Kitchen.read(taken)
    assert list(known.held) == ["egg"] and "egg" not in known.items
    known = Kitchen.read(
        [*taken, Turn("put egg in counter", "You put the egg in the counter.")]
    )
    assert not known.held and known.items["egg"] == "kitchen"


def test_it_knows_what_can_be_taken_here_and_no_more() -> None:
    house = Cooking(rooms=11, ingredients=5, distractors=5)
    compared = 0
    for seed in range(100, 120):
        seen = house.reset(seed)
        memory = [Turn("look around", seen.text)]
        while True:
            takes = [c for c in seen.commands if c.startswith("take ")]
            offered = {command.removeprefix("take ") for command in takes}
            _, in_reach = contents(memory)
            assert set(in_reach) - {"cookbook"} == offered
            compared += 1
            further = [c for c in seen.commands if c.startswith(("take ", "open "))]
            if not further or compared % 25 == 0:
                break
            seen = house.step(further[-1])
            memory.append(Turn(further[-1], seen.text))
    assert compared > 200
