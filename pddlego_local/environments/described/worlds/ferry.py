"""Cars on islands, and a ferry that takes one car at a time."""

from random import Random

from pddlego_local.environments.described.drawing import Drawing, moved, numbered
from pddlego_local.environments.writing import of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws two to four islands. Two thirds of the cars, and at least one, have to go
    to another island.
    """
    cars = numbered(thing, count)
    islands = numbered("island", chance.randint(2, 4))
    starts = {car: chance.choice(islands) for car in cars}
    ferry = chance.choice(islands)
    return Drawing(
        things={thing: cars, "island": islands},
        start=[
            ("ferry-at", ferry),
            ("deck-empty",),
            *of_pairs("parked", starts.items()),
        ],
        goal=of_pairs("parked", moved(chance, starts, islands)),
    )
