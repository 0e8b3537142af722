"""What an environment's observations name: all that a perfect formalizer declares, and
no more.

Whole games of the reference and random walks in the real games. About 15 seconds, most
of them ALFWorld's.
"""

import random
import re

from pddlego_local.core.nouns import Turn
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.cooking.text import Recipe
from pddlego_local.environments.textworld_express.game import ExpressGame

DIRECTIONS = ("north", "south", "east", "west")
ROOMS = (
    *(
        "kitchen",
        "pantry",
        "corridor",
        "bathroom",
        "bedroom",
        "living room",
        "laundry room",
    ),
    *("backyard", "driveway", "street", "alley"),
)
# ---- Against what the games themselves offer


def test_cooking_names_all_that_the_game_lets_one_examine_and_no_more() -> None:
    """Also after closing, putting down, eating, and reading the inventory."""
    rooms = {"numLocations": 11, "numIngredients": 5, "numDistractorItems": 10}
    game = ExpressGame(
        "cookingworld", rooms | {"includeDoors": 1, "limitInventorySize": 0}
    )
    house = Cooking()
    for seed in range(6):
        dice = random.Random(seed)
        reply = game.reset(seed, "train")
        memory, examined = [Turn("look around", reply.text)], set[str]()
        for _ in range(60):
            examined |= {c[8:] for c in reply.commands if c.startswith("examine ")}
            command = dice.choice(reply.commands)
            reply = game.step(command)
            memory.append(Turn(command, reply.text))
            if reply.lost:
                break
        things = set(house.names(memory).things)
        assert examined <= things
        further = {*ROOMS, *DIRECTIONS, "knife", *Recipe.read(memory).ingredients}
        assert {
            thing for thing in things - examined if not thing.endswith(" door")
        } <= further


def test_alfworld_names_all_that_is_offered(household: Alfworld) -> None:
    dice = random.Random(0)
    seen = household.reset(7)
    memory = [Turn("look around", seen.text)]
    offered: set[str] = set()
    for _ in range(30):
        for command in seen.commands:
            offered.update(re.findall(r"\b(?!to )[a-z]+ \d+", command))
        command = dice.choice(seen.commands)
        seen = household.step(command)
        memory.append(Turn(command, seen.text))
    assert offered == set(household.names(memory[:-1]).things)
    assert len(offered) > 20


def test_alfworld_names_are_numbered_and_the_middle_has_one() -> None:
    look = (
        "You are in the middle of a room. Looking quickly around you, you see a drawer"
        " 12, and a fridge 1.\n\nYour task is to: put a hot egg in drawer."
    )
    turns = [
        Turn("look around", look),
        Turn(
            "open fridge 1",
            "You open the fridge 1. The fridge 1 is open. In it, you see a egg "
            "2, and a egg 1.",
        ),
        Turn("take mug 9 from fridge 1", "Nothing happens."),
        Turn("inventory", "You are carrying: a cd 3."),
    ]
    names = Alfworld().names(turns)
    assert names.things == ("drawer 12", "fridge 1", "egg 2", "egg 1", "cd 3")
    assert names.objects == (
        "init_receptacle",
        "drawer12",
        "fridge1",
        "egg2",
        "egg1",
        "cd3",
    )
