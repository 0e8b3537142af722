"""Partly seen worlds whose things have other numbers than in the games that are
evaluated: room 17 also occurs in an office of six rooms.

A small model reads "room 17" as one word, which it must have met. The worlds in the box
number the rooms of a game from 1 on, so that games of the sizes to learn from have no
room 17.
"""

import functools
import random
import re
from collections.abc import Mapping

from pddlego_local.core.nouns import Budget
from pddlego_local.core.seeds import derive_seed
from pddlego_local.environments.explored.game import Explored

SIZES: Mapping[str, tuple[int, int]] = {
    "coin": (4, 11),
    "ferry": (2, 4),
    "office": (2, 3),
    "vault": (2, 4),
}
"""The worlds to learn from, and the least and the greatest size of their games. Larger
games and the other worlds are for evaluation.
"""
NUMBERS = range(1, 25)


class WideExplored(Explored):
    """A partly seen world in which the numbers of each kind of things are drawn."""

    @property
    def name(self) -> str:
        return "explored"

    def drawn(self, seed: int) -> str:
        return renumbered(super().drawn(seed), seed)


def renumbered(problem: str, seed: int) -> str:
    """Returns the problem with other numbers in the names of its objects."""
    rng = random.Random(derive_seed("wide numbers", seed))
    of_word: dict[str, list[int]] = {}

    def other(name: re.Match[str]) -> str:
        word, number = name.groups()
        if word not in of_word:
            of_word[word] = rng.sample(NUMBERS, len(NUMBERS))
        return f"{word}{of_word[word][int(number) - 1]}"

    return re.sub(r"\b([a-z]+)(\d+)\b", other, problem)


@functools.cache
def wide_explored(world: str, *, renamed: bool) -> WideExplored:
    """Returns a world in the box, in the sizes to learn from."""
    budget = Budget(unit="actions", limit=100)
    return WideExplored.model_validate(
        {"world": world, "renamed": renamed, "sizes": SIZES[world], "budget": budget}
    )
