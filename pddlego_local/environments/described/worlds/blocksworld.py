"""Blocks in towers, from which the player makes other towers."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from pddlego_local.environments.described.drawing import Drawing, numbered
from pddlego_local.environments.writing import Fact, of_each


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws `count` blocks, which are called `thing`."""
    blocks = numbered(thing, count)
    start = _towers(chance, blocks)
    goal = _towers(chance, blocks)
    tops = [tower[-1] for tower in start]
    return Drawing(
        things={thing: blocks},
        start=[*_standing(start), *of_each("clear", tops), ("empty",)],
        goal=_standing(goal),
    )


def _towers(chance: Random, blocks: Sequence[str]) -> list[list[str]]:
    """Returns towers from bottom to top. Each block, in random order, goes on an
    existing tower or begins a new one, all with the same chance.
    """
    towers: list[list[str]] = []
    for block in chance.sample(blocks, len(blocks)):
        place = chance.randrange(len(towers) + 1)
        if place == len(towers):
            towers.append([])
        towers[place].append(block)
    return towers


def _standing(towers: Sequence[Sequence[str]]) -> list[Fact]:
    facts: list[Fact] = []
    for tower in towers:
        facts.append(("table", tower[0]))
        for below, above in pairwise(tower):
            facts.append(("on", above, below))
    return facts
