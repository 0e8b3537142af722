"""Cars on islands, and a ferry that takes one car at a time."""

import random

from pddlego_local.environments.described.drawing import (
    Drawing,
    Words,
    most_of,
    numbered,
    other,
)


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws two to four islands. Two thirds of the cars, and at least one, have to go
    to another island.
    """
    cars, islands = numbered("car", count), numbered("island", chance.randint(2, 4))
    starts = {car: chance.choice(islands) for car in cars}
    parked = [("parked", *pair) for pair in starts.items()]
    return Drawing(
        {"car": cars, "island": islands},
        [("ferry-at", chance.choice(islands)), ("deck-empty",), *parked],
        [
            ("parked", car, other(chance, islands, starts[car]))
            for car in most_of(chance, cars)
        ],
    )
