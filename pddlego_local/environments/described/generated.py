"""Worlds of our own, by seed: what is drawn here is told in the words of `worlds/<name>.yaml`.

Blocksworld, Logistics, and Mystery Blocksworld: the same drawings as Blocksworld, under names that
say nothing (after Valmeekam et al., "PlanBench", §4). A seed gives one task, however it is told.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml

from pddlego_local.core.seeds import derive_seed
from pddlego_local.environments.described.world import HEADS, World, heads_in, in_order
from pddlego_local.environments.writing import Fact, problem_file

Family = Literal["blocksworld", "logistics", "mystery"]
Degree = Literal["moderately", "heavily"]


@dataclass(frozen=True)
class Drawing:
    """Facts name things as the texts do, ("on", "block 3", "block 1"), and predicates as the keys
    in `worlds/<name>.yaml`."""

    things: Mapping[str, Sequence[str]]
    start: Sequence[Fact]
    goal: Sequence[Fact]


def generate(family: Family, degree: Degree, sizes: tuple[int, int], seed: int) -> World:
    """The world of this seed, with so many blocks, or packages."""
    words = words_of(family)
    chance = random.Random(derive_seed("described", family, *sizes, seed))
    draw = _logistics if family == "logistics" else _blocks
    drawing = draw(chance, chance.randint(*sizes), words["thing"])

    def told(facts: Sequence[Fact]) -> str:
        phrases = [words["told"][degree][name].format(*things) for name, *things in facts]
        return "; ".join(phrase for phrase in phrases if phrase)

    def written(facts: Sequence[Fact]) -> list[str]:
        return [words["written"][name].format(*map(in_pddl, things)) for name, *things in facts]

    text = f"{words['domain_text'][degree].strip()}\n\n{HEADS}\n{words['heads'].strip()}"
    objects = [
        f"{' '.join(map(in_pddl, things))} - {kind}" for kind, things in drawing.things.items()
    ]
    goal = f"(and {' '.join(written(drawing.goal))})"
    return World(
        f"{family} {seed}",
        text,
        words["problem_text"]
        .strip()
        .format(
            things=", ".join(thing for things in drawing.things.values() for thing in things),
            start=told(drawing.start),
            goal=told(drawing.goal),
        ),
        heads_in(text, family),
        in_order(words["domain"]),
        in_order(problem_file("task", family, objects, written(drawing.start), goal)),
    )


def in_pddl(thing: str) -> str:
    """ "block 3" is block3."""
    return thing.replace(" ", "")


@cache
def words_of(family: Family) -> dict[str, Any]:
    text = resources.files(__package__).joinpath(f"worlds/{family}.yaml").read_text("utf-8")
    words: dict[str, Any] = yaml.safe_load(text)
    return words


def _blocks(chance: random.Random, count: int, thing: str) -> Drawing:
    blocks = [f"{thing} {number}" for number in range(1, count + 1)]
    start, goal = _towers(chance, blocks), _towers(chance, blocks)
    clear = [("clear", tower[-1]) for tower in start]
    return Drawing({thing: blocks}, [*_standing(start), *clear, ("empty",)], _standing(goal))


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


def _logistics(chance: random.Random, count: int, _thing: str) -> Drawing:
    """Two or three cities of an airport and one or two other places each, a truck in each, one or
    two airplanes; two thirds of the packages, and one at least, have somewhere else to go."""
    cities = [f"city {number}" for number in range(1, chance.randint(2, 3) + 1)]
    airports = {city: f"airport {number}" for number, city in enumerate(cities, start=1)}
    places: dict[str, str] = {}
    for city in cities:
        for _ in range(chance.randint(1, 2)):
            places[f"depot {len(places) + 1}"] = city
    where = {**places, **{airport: city for city, airport in airports.items()}}
    trucks = [(f"truck {number}", city) for number, city in enumerate(cities, start=1)]
    planes = [f"airplane {number}" for number in range(1, chance.randint(1, 2) + 1)]
    packages = [f"package {number}" for number in range(1, count + 1)]
    starts = {package: chance.choice(list(where)) for package in packages}
    sent = chance.sample(packages, max(1, round(count * 2 / 3)))
    at = [
        *((truck, chance.choice([p for p in where if where[p] == c])) for truck, c in trucks),
        *((plane, chance.choice(list(airports.values()))) for plane in planes),
        *starts.items(),
    ]
    return Drawing(
        {
            "package": packages,
            "truck": [truck for truck, _ in trucks],
            "airplane": planes,
            "place": list(places),
            "airport": list(airports.values()),
            "city": cities,
        },
        [("at", *pair) for pair in at] + [("in_city", *pair) for pair in where.items()],
        [
            ("at", package, chance.choice([place for place in where if place != starts[package]]))
            for package in packages
            if package in sent
        ],
    )
