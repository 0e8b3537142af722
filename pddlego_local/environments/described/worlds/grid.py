"""Rows of cells, each row behind a locked cell, and the keys to the locked cells."""

import random
from itertools import pairwise

from pddlego_local.environments.described.drawing import (
    Drawing,
    Words,
    most_of,
    numbered,
    other,
)


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws rows of three cells. One cell of each row, except the first row, is the
    only way in, and it is locked. Its key lies in an earlier row, so that all keys can
    be reached.
    """
    cells, keys = numbered("cell", 3 * (count + 1)), numbered("key", count)
    rows = [cells[first : first + 3] for first in range(0, len(cells), 3)]
    order = chance.sample(keys, count)
    links, doors = [pair for row in rows for pair in pairwise(row)], dict[str, str]()
    for key, (before, behind) in zip(order, pairwise(rows), strict=True):
        column = chance.randrange(3)
        links.append((before[column], behind[column]))
        doors[key] = behind[column]
    starts = {
        key: chance.choice(cells[: 3 * place])
        for place, key in enumerate(order, start=1)
    }
    return Drawing(
        {"key": keys, "cell": cells},
        [
            ("robot-at", chance.choice(rows[0])),
            ("hand-empty",),
            *(("link", *pair) for pair in links),
            *(("open", cell) for cell in cells if cell not in doors.values()),
            *(("locked", cell) for cell in cells if cell in doors.values()),
            *(("opens", key, doors[key]) for key in keys),
            *(("lies-at", key, starts[key]) for key in keys),
        ],
        [
            ("lies-at", key, other(chance, cells, starts[key]))
            for key in most_of(chance, keys)
        ],
    )
