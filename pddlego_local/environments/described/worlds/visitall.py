"""Cells, all of which have to be visited."""

import random

from pddlego_local.environments.described.drawing import Drawing, Words, lines, numbered


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws a connected piece of a grid. It grows cell by cell from the gate, where the
    robot starts.
    """
    cells, grown = numbered("cell", count), {(0, 0): "gate 1"}
    for cell in chance.sample(cells, count):
        free = [
            place
            for x, y in grown
            for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
            if place not in grown
        ]
        grown[chance.choice(free)] = cell
    links = [("link", *pair) for pair in lines(grown, 2)]
    return Drawing(
        {"gate": ["gate 1"], "cell": cells},
        [("robot-at", "gate 1"), *links],
        [("visited", cell) for cell in cells],
    )
