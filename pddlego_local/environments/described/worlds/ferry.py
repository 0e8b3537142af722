"""Cars on islands, and a ferry that takes one of them."""

import random

from pddlego_local.environments.described.drawing import Drawing, Words, most_of, numbered, other


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Two to four islands; two thirds of the cars, and one at least, have somewhere else to go."""
    cars, islands = numbered("car", count), numbered("island", chance.randint(2, 4))
    starts = {car: chance.choice(islands) for car in cars}
    parked = [("parked", *pair) for pair in starts.items()]
    return Drawing(
        {"car": cars, "island": islands},
        [("ferry-at", chance.choice(islands)), ("deck-empty",), *parked],
        [("parked", car, other(chance, islands, starts[car])) for car in most_of(chance, cars)],
    )
