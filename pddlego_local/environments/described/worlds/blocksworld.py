"""Blocks in towers, from which other towers are to be made."""

import random
from collections.abc import Sequence

from pddlego_local.environments.described.drawing import Drawing, Words, numbered
from pddlego_local.environments.writing import Fact


def draw(chance: random.Random, count: int, words: Words) -> Drawing:
    """Of `count` blocks, under the name that the words have for one."""
    blocks = numbered(words["thing"], count)
    start, goal = _towers(chance, blocks), _towers(chance, blocks)
    clear = [("clear", tower[-1]) for tower in start]
    return Drawing(
        {words["thing"]: blocks}, [*_standing(start), *clear, ("empty",)], _standing(goal)
    )


def _towers(chance: random.Random, blocks: Sequence[str]) -> list[list[str]]:
    """Each from bottom to top: a block in random order comes on a tower that is there, or is the
    first of a new one, with the same chance each."""
    towers: list[list[str]] = []
    for block in chance.sample(blocks, len(blocks)):
        place = chance.randrange(len(towers) + 1)
        if place == len(towers):
            towers.append([])
        towers[place].append(block)
    return towers


def _standing(towers: Sequence[Sequence[str]]) -> list[Fact]:
    return [
        ("on", above, tower[place]) if place >= 0 else ("table", above)
        for tower in towers
        for place, above in enumerate(tower, start=-1)
    ]
