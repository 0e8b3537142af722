"""Boxes that a worker can push, but not pull."""

import random

from pddlego_local.environments.described.drawing import Drawing, Words, lines, numbered


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws a floor that is four cells wide. The start is made from the goal by
    backward moves, in which boxes are pulled, so that pushing them leads back to the
    goal.
    """
    boxes, cells = numbered("box", count), numbered("cell", 4 * (count + 2))
    floor = {(place % 4, place // 4): cell for place, cell in enumerate(cells)}
    links, rows = lines(floor, 2), lines(floor, 3)
    beside = [way for pair in links for way in (pair, pair[::-1])]
    ways = [way for row in rows for way in (row, row[::-1])]
    goal, now = list[str](), list[str]()
    while now == goal:
        *goal, worker = chance.sample(cells, count + 1)
        now = list(goal)
        for _ in range(20 * count):
            steps = [
                (to, "", "")
                for start, to in beside
                if start == worker and to not in now
            ]
            pulls = [way for way in ways if way[1] == worker and way[2] in now]
            steps += [(to, at, box) for to, at, box in pulls if to not in now]
            if steps:
                worker, at, box = chance.choice(steps)
                now = [at if cell == box else cell for cell in now]
    return Drawing(
        {"box": boxes, "cell": cells},
        [
            ("worker-at", worker),
            *(("box-at", *pair) for pair in zip(boxes, now, strict=True)),
            *(("free", cell) for cell in cells if cell not in now),
            *(("link", *pair) for pair in links),
            *(("line", *row) for row in rows),
        ],
        [("box-at", *pair) for pair in zip(boxes, goal, strict=True)],
    )
