"""Rows of cells, each row behind a locked cell, and the keys to the locked cells."""

from itertools import pairwise
from random import Random

from pddlego_local.environments.described.drawing import Drawing, moved, numbered
from pddlego_local.environments.writing import of_each, of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws rows of three cells. One cell of each row, except the first row, is the
    only way in, and it is locked. Its key lies in an earlier row, so that all keys can
    be reached.
    """
    keys = numbered(thing, count)
    cells = numbered("cell", 3 * (count + 1))
    rows = [cells[first : first + 3] for first in range(0, len(cells), 3)]
    links: list[tuple[str, str]] = []
    for row in rows:
        links += pairwise(row)
    order = chance.sample(keys, count)
    door_of: dict[str, str] = {}
    for key, (before, behind) in zip(order, pairwise(rows), strict=True):
        column = chance.randrange(3)
        door = behind[column]
        links.append((before[column], door))
        door_of[key] = door
    places: dict[str, str] = {}
    reachable: list[str] = []
    for key, row in zip(order, rows, strict=False):
        reachable += row
        places[key] = chance.choice(reachable)
    starts = {key: places[key] for key in keys}
    robot = chance.choice(rows[0])
    locked = [cell for cell in cells if cell in door_of.values()]
    unlocked = [cell for cell in cells if cell not in locked]
    opens = [(key, door_of[key]) for key in keys]
    return Drawing(
        things={thing: keys, "cell": cells},
        start=[
            ("robot-at", robot),
            ("hand-empty",),
            *of_pairs("link", links),
            *of_each("open", unlocked),
            *of_each("locked", locked),
            *of_pairs("opens", opens),
            *of_pairs("lies-at", starts.items()),
        ],
        goal=of_pairs("lies-at", moved(chance, starts, cells)),
    )
