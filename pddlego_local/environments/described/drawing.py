"""The random choices of a generated world, before it is put into words and written as
PDDL.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego_local.environments.writing import Fact

Words = Mapping[str, Any]
"""The content of `worlds/<name>.yaml`."""


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


def in_ranges(ranges: Words, count: int) -> tuple[Drawing, dict[str, str]]:
    """Returns the drawing with `count` main things that the section `ranges` of a world
    describes, and its things, start and goal in words.

    `things` has the last thing of each type, and `constants` the constants that facts
    name. `start` and `goal` map each sentence to its facts. {n} is `count`, and {more}
    is one more. A fact with {i}, {next}, {odd} or {even} stands for one fact for each
    number, its successor, or each odd or even number, as long as all things of the fact
    exist.
    """
    last = [
        thing.format(n=count, more=count + 1).split()
        for thing in ranges["things"].values()
    ]
    every = [numbered(name, int(number)) for name, number in last]
    known = {*ranges.get("constants", ()), *(thing for own in every for thing in own)}
    values = [
        {
            "n": count,
            "more": count + 1,
            "i": i,
            "next": i + 1,
            "odd": 2 * i - 1,
            "even": 2 * i,
        }
        for i in range(1, max(map(len, every)) + 1)
    ]

    def facts(sentences: Mapping[str, Sequence[Fact]]) -> list[Fact]:
        patterns = [fact for group in sentences.values() for fact in group]
        stated = [
            tuple(word.format(**each) for word in f)
            for f in patterns
            for each in values
        ]
        return [fact for fact in dict.fromkeys(stated) if known.issuperset(fact[1:])]

    told = {
        part: "; ".join(ranges[part]).format(**values[0]) for part in ("start", "goal")
    }
    told["things"] = ", ".join(
        " to ".join(dict.fromkeys([own[0], own[-1]])) for own in every
    )
    things = dict(zip(ranges["things"], every, strict=True))
    return Drawing(things, facts(ranges["start"]), facts(ranges["goal"])), told


def most_of(chance: random.Random, things: Sequence[str]) -> list[str]:
    """Returns two thirds of the things, and at least one, in their own order."""
    chosen = chance.sample(things, max(1, round(len(things) * 2 / 3)))
    return [thing for thing in things if thing in chosen]


def other(chance: random.Random, places: Sequence[str], than: str) -> str:
    """Returns one of the places, but not `than`."""
    return chance.choice([place for place in places if place != than])


def lines(cells: Mapping[tuple[int, int], str], length: int) -> list[tuple[str, ...]]:
    """Returns all straight lines of `length` cells, to the right and downwards. `cells`
    has the cell at each (column, row).
    """
    ways = [
        [(x + step * right, y + step * (1 - right)) for step in range(length)]
        for x, y in cells
        for right in (1, 0)
    ]
    return [
        tuple(cells[cell] for cell in way)
        for way in ways
        if all(c in cells for c in way)
    ]
