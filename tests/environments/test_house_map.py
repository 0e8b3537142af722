"""What TextWorldExpress's wordings tell of a house: doors, rooms behind them, and all
names.
"""

from typing import Any

import pytest

from pddlego_local.core.nouns import Names, Turn
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from tests.tables import table

KITCHEN = (
    "You are in the kitchen. To the North you see a closed wood door. "
    "To the East you see the living room."
)


def coin_names(*turns: tuple[str, str]) -> Names:
    return Coin().names([Turn(*turn) for turn in (("look around", KITCHEN), *turns)])


OPENED = ("open door to north ", "You open the wood door, revealing the laundry room.")
CLOSED = ("close door to north", "You close the wood door to the laundry room.")
LIVING = ("move east", "You are in the living room. To the West you see the kitchen.")


def test_a_closed_door_leads_to_a_placeholder() -> None:
    names = coin_names()
    things = ("kitchen", "north", "wood door", "east", "living room")
    assert names.things == things
    spelled = (
        "kitchen",
        "north",
        "wood_door",
        "east",
        "living_room",
        "behind_kitchen_north",
    )
    assert names.objects == spelled


def test_an_opened_door_leads_to_the_room() -> None:
    names = coin_names(OPENED, LIVING)
    assert (
        "behind_kitchen_north" not in names.objects and "laundry_room" in names.objects
    )


def test_a_door_that_was_closed_again_still_leads_to_the_room() -> None:
    for further in ((), (("look around", KITCHEN),)):
        names = coin_names(OPENED, CLOSED, LIVING, *further)
        assert not any(name.startswith("behind_") for name in names.objects)
        assert "laundry_room" in names.objects


def test_a_door_that_was_seen_from_both_sides_opens_for_both() -> None:
    laundry = "You are in the laundry room. To the South you see a closed wood door."
    seen = ("move east", laundry)
    assert {"behind_kitchen_north", "behind_laundry_room_south"} <= set(
        coin_names(seen).objects
    )
    back = ("move west", KITCHEN)
    names = coin_names(seen, back, OPENED)
    assert not any(name.startswith("behind_") for name in names.objects)


def test_a_door_opened_by_a_command_that_names_no_direction_is_nowhere() -> None:
    """A game may overlook a control character, and old records hold what it
    answered.
    """
    opened = ("open door to north\0", OPENED[1])
    assert "behind_kitchen_north" in coin_names(opened).objects


def test_what_cannot_be_done_names_nothing() -> None:
    before = coin_names()
    refusals = (
        "You can't move there, the door is closed.",
        "Unknown action: I'm not sure what you mean.",
        "That is already open.",
        "Inventory: \n  Your inventory is currently empty.",
    )
    assert coin_names(*(("move north", text) for text in refusals)) == before


@pytest.mark.parametrize("wording", table(__file__, "wordings"))
def test_every_wording_of_the_kitchen_is_read(wording: dict[str, Any]) -> None:
    names = Cooking().names([Turn("look around", wording["text"])])
    assert list(names.things) == wording["names"]
    assert names.objects == tuple(
        thing.lower().replace(" ", "_") for thing in names.things
    )
