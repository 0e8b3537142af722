"""Cells, all of which have to be visited."""

from random import Random

from pddlego_local.environments.described.drawing import Cell, Drawing, lines, numbered
from pddlego_local.environments.writing import of_each, of_pairs

_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws a connected piece of a grid. It grows cell by cell from the gate, where the
    robot starts.
    """
    cells = numbered(thing, count)
    gate = "gate 1"
    grown = {(0, 0): gate}
    for cell in chance.sample(cells, count):
        free = []
        for place in grown:
            free += [beside for beside in _beside(place) if beside not in grown]
        grown[chance.choice(free)] = cell
    return Drawing(
        things={"gate": [gate], thing: cells},
        start=[("robot-at", gate), *of_pairs("link", lines(grown, 2))],
        goal=of_each("visited", cells),
    )


def _beside(place: Cell) -> list[Cell]:
    column, row = place
    return [(column + right, row + down) for right, down in _STEPS]
