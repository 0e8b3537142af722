"""Boxes that a worker can push, but not pull."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from pddlego_local.environments.described.drawing import Drawing, lines, numbered
from pddlego_local.environments.writing import of_each, of_pairs


class Move(NamedTuple):
    """`to` is the worker's next cell. A box that is pulled goes from the cell `left` to
    the cell `reached`.
    """

    to: str
    left: str = ""
    reached: str = ""


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws a floor that is four cells wide. The start is made from the goal by
    backward moves, in which boxes are pulled, so that pushing them leads back to the
    goal.
    """
    boxes = numbered(thing, count)
    cells = numbered("cell", 4 * (count + 2))
    floor = {(place % 4, place // 4): cell for place, cell in enumerate(cells)}
    links = lines(floor, 2)
    rows = lines(floor, 3)
    beside = _both_ways(links)
    ways = _both_ways(rows)
    goal: list[str] = []
    now: list[str] = []
    while now == goal:
        *goal, worker = chance.sample(cells, count + 1)
        now = list(goal)
        for _ in range(20 * count):
            moves = _steps(worker, now, beside)
            moves += _pulls(worker, now, ways)
            if moves:
                move = chance.choice(moves)
                worker = move.to
                now = [move.reached if cell == move.left else cell for cell in now]
    free = [cell for cell in cells if cell not in now]
    return Drawing(
        things={thing: boxes, "cell": cells},
        start=[
            ("worker-at", worker),
            *of_pairs("box-at", zip(boxes, now, strict=True)),
            *of_each("free", free),
            *of_pairs("link", links),
            *of_pairs("line", rows),
        ],
        goal=of_pairs("box-at", zip(boxes, goal, strict=True)),
    )


def _both_ways(ways: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    both = []
    for way in ways:
        both += [way, way[::-1]]
    return both


def _steps(
    worker: str, boxes: Sequence[str], beside: Sequence[Sequence[str]]
) -> list[Move]:
    """Returns the moves to a free cell beside the worker, which leave all boxes."""
    return [Move(to) for start, to in beside if start == worker and to not in boxes]


def _pulls(
    worker: str, boxes: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[Move]:
    """Returns the moves in which the worker pulls the box behind them."""
    return [
        Move(to, left=box, reached=at)
        for to, at, box in rows
        if at == worker and box in boxes and to not in boxes
    ]
