"""Draws rows of cells, each behind a locked cell, whose key lies in a row before it."""

from itertools import pairwise
from random import Random

from pddlego_local.environments.explored.drawing import numbered, problem

WIDTH = 3


def draw(size: int, random: Random) -> str:
    """Draws `size` locked cells, and a key for each. Most keys have to be brought to
    another cell.
    """
    keys = numbered("key", size)
    cells = numbered("cell", WIDTH * (size + 1))
    random.shuffle(cells)
    rows = [cells[first : first + WIDTH] for first in range(0, len(cells), WIDTH)]
    ways = [pair for row in rows for pair in pairwise(row)]
    locked: dict[str, str] = {}  # by its key
    lies: dict[str, str] = {}
    reached: list[str] = []
    for key, (row, behind) in zip(keys, pairwise(rows), strict=True):
        column = random.randrange(WIDTH)
        ways.append((row[column], behind[column]))
        locked[key] = behind[column]
        reached += row
        lies[key] = random.choice(reached)
    wanted = random.sample(keys, max(1, size * 2 // 3))
    facts = [
        ("robot-at", random.choice(rows[0])),
        ("hand-empty",),
        *(("beside", *pair) for pair in ways),
        *(("beside", there, here) for here, there in ways),
        *(("open", cell) for cell in cells if cell not in locked.values()),
        *(("locked", cell) for cell in locked.values()),
        *(("opens", key, cell) for key, cell in locked.items()),
        *(("lies-at", key, cell) for key, cell in lies.items()),
    ]
    goal = []
    for key in wanted:
        others = [cell for cell in cells if cell != lies[key]]
        goal.append(("lies-at", key, random.choice(others)))
    return problem("grid", {"key": keys, "cell": cells}, facts, goal)
