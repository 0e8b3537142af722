"""What the draws of partly seen worlds share: names, maps of rooms, problem files."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from pddlego_local.environments.maps import OPPOSITE as OPPOSITE
from pddlego_local.environments.writing import Fact, problem_file

Cell = tuple[int, int]
WAYS: Mapping[str, Cell] = {
    "north": (0, 1),
    "east": (1, 0),
    "south": (0, -1),
    "west": (-1, 0),
}


class Passage(NamedTuple):
    """A way from a room to one that lies beside it."""

    start: str
    end: str
    direction: str

    @property
    def back(self) -> "Passage":
        return Passage(self.end, self.start, OPPOSITE[self.direction])


def numbered(thing: str, count: int) -> list[str]:
    """Returns "block1", "block2" and so on."""
    return [f"{thing}{number}" for number in range(1, count + 1)]


def passages(rooms: Sequence[str], loops: int, random: Random) -> list[Passage]:
    """Returns the passages of a map of these rooms, each in one direction. All rooms
    are connected, and there are up to `loops` passages more than that needs.
    """
    cells: dict[Cell, str] = {(0, 0): rooms[0]}
    drawn = []
    for room in rooms[1:]:
        free = [step for step in _steps(cells) if step[1] not in cells]
        start, end, direction = random.choice(free)
        cells[end] = room
        drawn.append(Passage(cells[start], room, direction))
    linked = {frozenset(passage[:2]) for passage in drawn}
    others = [
        Passage(cells[start], cells[end], direction)
        for start, end, direction in _steps(cells)
        if direction in ("north", "east") and end in cells
    ]
    closing = [passage for passage in others if frozenset(passage[:2]) not in linked]
    return drawn + random.sample(closing, min(loops, len(closing)))


def _steps(cells: Mapping[Cell, str]) -> list[tuple[Cell, Cell, str]]:
    """Returns the steps from each cell: from where, to where, in which direction."""
    return [
        ((x, y), (x + right, y + up), direction)
        for x, y in cells
        for direction, (right, up) in WAYS.items()
    ]


def problem(
    domain: str,
    things: Mapping[str, Sequence[str]],
    facts: Sequence[Fact],
    goal: Sequence[Fact],
) -> str:
    """Returns a problem file. `things` are the objects of each type."""
    objects = [f"{' '.join(names)} - {kind}" for kind, names in things.items() if names]
    wanted = " ".join(map(_written, goal))
    start = [*map(_written, facts)]
    return problem_file("drawn", domain, objects, start, f"(and {wanted})")


def _written(fact: Fact) -> str:
    return f"({' '.join(fact)})"
