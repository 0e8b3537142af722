"""Blocks in towers, from which the player makes other towers."""

import random
from collections.abc import Sequence

from pddlego_local.environments.described.drawing import Drawing, Words, numbered
from pddlego_local.environments.writing import Fact


def draw(chance: random.Random, count: int, words: Words) -> Drawing:
    """Draws `count` blocks, which have the name that the words give to a block."""
    blocks = numbered(words["thing"], count)
    start, goal = _towers(chance, blocks), _towers(chance, blocks)
    clear = [("clear", tower[-1]) for tower in start]
    return Drawing(
        {words["thing"]: blocks},
        [*_standing(start), *clear, ("empty",)],
        _standing(goal),
    )


def _towers(chance: random.Random, blocks: Sequence[str]) -> list[list[str]]:
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
    return [
        ("on", above, tower[place]) if place >= 0 else ("table", above)
        for tower in towers
        for place, above in enumerate(tower, start=-1)
    ]
