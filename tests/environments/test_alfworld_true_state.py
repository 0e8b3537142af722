"""What is true in ALFWorld, beside what its games tell."""

import os
import random
from pathlib import Path

import pytest

from pddlego_local.core.nouns import Turn, Turns
from pddlego_local.environments.alfworld import reference
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.alfworld.games import TASK_TYPES
from pddlego_local.report.map.world import read_world

REAL = os.environ.get("ALFWORLD_DATA", "")
OF_THE_PLAYER = {"visited", "explored"}
"""What the player remembers is no state of the game."""


def wander(game: Alfworld, seed: int, commands: int) -> list[Turn]:
    """Plays commands by chance, each kind of them as often, and compares what was told
    with what is true after each. Returns what was told.
    """
    chance = random.Random(seed)
    seen = game.reset(seed)
    memory = [Turn("look around", seen.text)]
    compare(game, memory)
    for _ in range(commands):
        kinds = {command.split()[0] for command in seen.commands}
        kind = chance.choice(sorted(kinds - {"examine", "inventory", "look"}))
        command = chance.choice([c for c in seen.commands if c.startswith(f"{kind} ")])
        seen = game.step(command)
        memory.append(Turn(command, seen.text))
        compare(game, memory)
    return memory


def compare(game: Alfworld, memory: Turns) -> None:
    true = game.true_state()
    told = read_world(game.domain, reference.problem(memory)).facts
    told_of_the_game = {fact for fact in told if fact[0] not in OF_THE_PLAYER}
    assert told_of_the_game and told_of_the_game <= true.facts, memory[-1]
    assert {(fact[0], len(fact) - 1) for fact in true.facts} <= true.predicates
    assert {name for fact in true.facts for name in fact[1:]} <= true.objects.keys()


@pytest.mark.parametrize("seed", range(len(TASK_TYPES)))
def test_everything_that_is_told_is_true(household: Alfworld, seed: int) -> None:
    told = wander(household, seed, commands=40)
    assert {turn.command.split()[0] for turn in told} >= {"go", "take"}


def test_a_command_changes_what_its_words_say(heat: Alfworld) -> None:
    heat.reset(0)
    before = heat.true_state()
    assert ("at", "init_receptacle") in before.facts
    assert ("closed", "microwave1") in before.facts
    heat.step("go to microwave 1")
    heat.step("open microwave 1")
    now = heat.true_state()
    assert now.facts - before.facts >= {("at", "microwave1"), ("opened", "microwave1")}
    assert before.facts - now.facts == {
        ("at", "init_receptacle"),
        ("closed", "microwave1"),
    }
    assert now.roles == {"player": ("at/1",), "places": ("receptacle",)}


@pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no data set")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_everything_that_is_told_is_true_in_real_games(seed: int) -> None:
    game = Alfworld(data=Path(REAL), split="valid_seen")
    try:
        wander(game, seed, commands=40)
    finally:
        game.close()
