"""What an environment's observations name: all that a perfect formalizer declares, and
no more.

Whole games of the reference and random walks in the real games. About 15 seconds, most
of them ALFWorld's.
"""

import random
import re
from typing import Any

import pytest
from pddl.parser.problem import ProblemParser

from pddlego_local.core.nouns import Budget, Names, Turn, Turns
from pddlego_local.core.protocols import Environment
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.environments import family
from pddlego_local.environments.alfworld.game import Alfworld, spelled
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.cooking.text import Recipe
from pddlego_local.environments.textworld_express.game import ExpressGame
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.planner import FastDownward
from tests.methods.playing import play

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
FULL = Budget(unit="actions", limit=50)


class Watched:
    """The reference, and the memories that it was asked about."""

    def __init__(self) -> None:
        self.memories: list[Turns] = []
        self._model = ReferenceFormalizer()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def answer(self, question: AnyQuestion, *rest: Any) -> Drawn:
        self.memories.append(question.context.memory)
        return self._model.answer(question, *rest)


def check_game(environment: Environment, seed: int, planner: FastDownward) -> None:
    """Plays a game by the reference's plans and compares the names at each
    formalization.
    """
    model = Watched()
    outcome, _ = play(PddlegoPlus(), environment, model, planner, game=seed)
    assert outcome in ("success", "success_at_start"), seed
    for memory in model.memories:
        check_names(environment, memory)


def check_names(environment: Environment, memory: Turns) -> Names:
    names = environment.names(memory)
    rules = family.reference(environment.package)
    for problem in (rules.formalize(memory)[1], rules.problem(memory)):
        declared = {str(thing.name) for thing in ProblemParser()(problem).objects}
        assert declared <= set(names.objects)
    assert len(set(names.objects)) == len(names.objects)
    assert list(names.objects) == [name.lower() for name in names.objects]
    told = " ".join(turn.text for turn in memory).lower()
    spell = (
        spelled
        if environment.name == "alfworld"
        else lambda name: name.replace("_", " ")
    )
    named = [
        name
        for name in names.objects
        if not name.startswith(("behind_", "init_receptacle"))
    ]
    assert [spell(name) for name in named] == [thing.lower() for thing in names.things]
    for thing in map(str.lower, names.things):
        needed = thing == "knife" and Recipe.read(memory).cuts
        assert needed or re.search(rf"\b{thing}\b", told), thing
    return names


@pytest.mark.parametrize("seed", [1, 8, 17])
@pytest.mark.parametrize("furniture", [True, False])
def test_coin_names_what_the_reference_declares(
    planner: FastDownward, seed: int, furniture: bool
) -> None:
    check_game(Coin(distractors=5, furniture=furniture), seed, planner)


@pytest.mark.parametrize("seed", [2, 17])
def test_cooking_names_what_the_reference_declares(
    planner: FastDownward, seed: int
) -> None:
    check_game(Cooking(), seed, planner)
    check_game(
        Cooking(rooms=5, ingredients=5, distractors=5, budget=FULL), seed, planner
    )


def test_alfworld_names_what_the_reference_declares(
    planner: FastDownward, household: Alfworld
) -> None:
    for seed in (0, 4, 9):
        check_game(household, seed, planner)


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
