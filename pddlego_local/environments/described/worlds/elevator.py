"""Passengers on floors, and one elevator."""

from itertools import combinations
from random import Random

from pddlego_local.environments.described.drawing import Drawing, numbered, sent
from pddlego_local.environments.writing import of_each, of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws three to six floors. Every passenger wants to go to another floor."""
    people = numbered(thing, count)
    floors = numbered("floor", chance.randint(3, 6))
    starts = {person: chance.choice(floors) for person in people}
    elevator = chance.choice(floors)
    wishes = sent(chance, people, starts, floors)
    above = [(upper, lower) for lower, upper in combinations(floors, 2)]
    return Drawing(
        things={thing: people, "floor": floors},
        start=[
            ("elevator-at", elevator),
            *of_pairs("above", above),
            *of_pairs("waits-on", starts.items()),
            *of_pairs("wants", wishes),
        ],
        goal=of_each("arrived", people),
    )
