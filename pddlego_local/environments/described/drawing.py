"""The random choices of a generated world, before it is put into words and written as
PDDL.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pddlego_local.environments.writing import Fact

Cell = tuple[int, int]
"""The column and the row of a place in a grid."""


@dataclass(frozen=True)
class Drawing:
    """The things, the start and the goal of one task. Facts name things as the texts
    do, ("on", "block 3", "block 1"), and predicates as the keys in
    `worlds/<name>.yaml`. `things` lists the things of each PDDL type.
    """

    things: Mapping[str, Sequence[str]]
    start: Sequence[Fact]
    goal: Sequence[Fact]


def numbered(thing: str, count: int) -> list[str]:
    """Returns "block 1", "block 2" and so on."""
    return [f"{thing} {number}" for number in range(1, count + 1)]


def most_of(chance: Random, things: Sequence[str]) -> list[str]:
    """Returns two thirds of the things, and at least one, in their own order."""
    two_thirds = round(len(things) * 2 / 3)
    chosen = chance.sample(things, max(1, two_thirds))
    return [thing for thing in things if thing in chosen]


def sent(
    chance: Random,
    things: Iterable[str],
    starts: Mapping[str, str],
    places: Sequence[str],
) -> list[tuple[str, str]]:
    """Returns each of the things with a place other than where it starts."""
    targets = []
    for thing in things:
        others = [place for place in places if place != starts[thing]]
        targets.append((thing, chance.choice(others)))
    return targets


def moved(
    chance: Random, starts: Mapping[str, str], places: Sequence[str]
) -> list[tuple[str, str]]:
    """Returns most of the things, each with a place other than where it starts."""
    return sent(chance, most_of(chance, list(starts)), starts, places)


def lines(cells: Mapping[Cell, str], length: int) -> list[list[str]]:
    """Returns all straight lines of `length` cells, to the right and downwards. `cells`
    has the cell at each (column, row).
    """
    found = []
    for column, row in cells:
        right = [(column + step, row) for step in range(length)]
        down = [(column, row + step) for step in range(length)]
        for line in (right, down):
            names = [cells[place] for place in line if place in cells]
            if len(names) == length:
                found.append(names)
    return found
