"""Passengers on floors, and one elevator."""

import random

from pddlego_local.environments.described.drawing import Drawing, Words, numbered, other


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws three to six floors. Every passenger wants to go to another floor."""
    people, floors = (
        numbered("passenger", count),
        numbered("floor", chance.randint(3, 6)),
    )
    starts = {person: chance.choice(floors) for person in people}
    return Drawing(
        {"passenger": people, "floor": floors},
        [
            ("elevator-at", chance.choice(floors)),
            *(
                ("above", up, low)
                for n, low in enumerate(floors)
                for up in floors[n + 1 :]
            ),
            *(("waits-on", *pair) for pair in starts.items()),
            *(
                ("wants", person, other(chance, floors, starts[person]))
                for person in people
            ),
        ],
        [("arrived", person) for person in people],
    )
