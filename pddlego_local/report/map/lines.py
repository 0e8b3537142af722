"""Draws the lines between the boxes of a map: the facts that join them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.pddl.conditions import Fact
from pddlego_local.report.map.layout import Cell
from pddlego_local.report.map.svg import (
    CHARACTER,
    MOST_TOLD,
    Box,
    Point,
    Row,
    cut,
    joined,
    point,
    text,
    title,
    worst,
)
from pddlego_local.report.map.text import short
from pddlego_local.report.map.world import COMPASS, World

Way = tuple[str, str]  # from one box to another

MOST_LABELS = 3  # of one line
LABEL_LINE = 12  # height
ARROW = 7  # length
ASKED = "goal: "
ARROWS: Mapping[Cell, str] = {
    (0, -1): "↑", (0, 1): "↓", (1, 0): "→", (-1, 0): "←",
    (1, -1): "↗", (-1, -1): "↖", (1, 1): "↘", (-1, 1): "↙",
}  # fmt: skip
"""Before a label of a line that goes both ways: the way that it is about."""


@dataclass(frozen=True)
class Join:
    """The facts that join two boxes, drawn as one line. `labels` are those that the
    place of the boxes does not say.
    """

    facts: Sequence[Fact]
    labels: Sequence[Row]
    mark: str
    door: bool
    towards: str  # the box with the arrow, "" if the facts go both ways

    @property
    def is_asked(self) -> bool:
        """Whether only the goal has these facts."""
        asked = [row for row in self.labels if ASKED in row.text]
        return len(asked) == len(self.labels) == len(self.facts)


def joins(
    world: World, cells: Mapping[str, Cell], marks: Mapping[Fact, str]
) -> dict[Way, Join]:
    """Returns the lines of a map, each by its two boxes."""
    ways: dict[Way, dict[Way, list[Fact]]] = {}
    for way, facts in world.between(world.facts | world.goal).items():
        if way[0] in cells and way[1] in cells:
            pair = (min(way), max(way))
            ways.setdefault(pair, {})[way] = facts
    return {
        pair: _join(world, by_way, cells, marks)
        for pair, by_way in sorted(ways.items())
    }


def _join(
    world: World,
    by_way: Mapping[Way, Sequence[Fact]],
    cells: Mapping[str, Cell],
    marks: Mapping[Fact, str],
) -> Join:
    """Takes the facts between two boxes by their way, from one box to the other."""
    goes_both_ways = len(by_way) == 2
    labels_of = {
        way: [*_labels_of(way, facts, world, cells, marks)]
        for way, facts in by_way.items()
    }
    if not goes_both_ways or len({*map(tuple, labels_of.values())}) == 1:
        labels = [row for rows in labels_of.values() for row in rows]
    else:  # each label says for which way it holds
        labels = [
            row._replace(text=f"{_arrow_of(way, cells)} {row.text}")
            for way, rows in labels_of.items()
            for row in rows
        ]
    every = [fact for facts in by_way.values() for fact in facts]
    (_, towards), *_ = by_way
    return Join(
        facts=every,
        labels=[*dict.fromkeys(labels)],
        mark=worst(every, marks),
        door=any(map(world.is_door, every)),
        towards="" if goes_both_ways else towards,
    )


def _labels_of(
    way: Way,
    facts: Sequence[Fact],
    world: World,
    cells: Mapping[str, Cell],
    marks: Mapping[Fact, str],
) -> Iterator[Row]:
    for fact in facts:
        if fact not in world.facts:
            yield Row(f"{ASKED}{short(fact[0])}", "")
        elif not _says_itself(world, fact, cells):
            more = [name for name in fact[1:] if name not in way]
            words = " ".join(map(short, [fact[0], *more]))
            yield Row(words, marks.get(fact, ""))


def _way_of(first: Cell, second: Cell) -> Cell:
    """Returns the way from one cell to another, as in COMPASS."""
    right, down = second[0] - first[0], second[1] - first[1]
    return (right > 0) - (right < 0), (down > 0) - (down < 0)


def _arrow_of(way: Way, cells: Mapping[str, Cell]) -> str:
    return ARROWS[_way_of(cells[way[0]], cells[way[1]])]


def _says_itself(world: World, fact: Fact, cells: Mapping[str, Cell]) -> bool:
    """Whether the second box lies from the first as the direction in the fact says; for
    a fact without a direction, whether it is the plain way from place to place.
    """
    direction = world.direction(fact)
    if not direction:
        are_places = world.places.issuperset(world.terms(fact))
        return are_places and fact[0] in world.plain_ways
    first, second = (cells[world.box_of[name]] for name in world.terms(fact))
    return _way_of(first, second) == COMPASS[direction]


def line(first: Box, second: Box, pair: Way, join: Join) -> Iterator[str]:
    start = _rim(first, second)
    end = _rim(second, first)
    door, asked = "door" if join.door else "", "asked" if join.is_asked else ""
    yield f'<g class="{joined(["e", join.mark, door, asked])}">' + title(
        join.facts[:MOST_TOLD]
    )
    yield f'<path d="M{point(start)}L{point(end)}"/>'
    if join.towards:
        tail, tip = (start, end) if join.towards == pair[1] else (end, start)
        yield _arrow(tail, tip)
    if join.door:
        yield _door(start, end)
    yield from _labels(start, end, join)
    yield "</g>"


def _door(start: Point, end: Point) -> str:
    """A bar across a line."""
    x, y = _middle(start, end)
    width, height = (18, 8) if _is_upright(start, end) else (8, 18)
    left, top = x - width / 2, y - height / 2
    return f'<rect x="{left:.0f}" y="{top:.0f}" width="{width}" height="{height}"/>'


def _labels(start: Point, end: Point, join: Join) -> Iterator[str]:
    """The words of a line, on a ground that hides what is behind them. They stand above
    a door, or beside it if the line is upright.
    """
    labels = cut(join.labels, MOST_LABELS)
    if not labels and join.mark in ("wrong", "missed"):
        labels = [Row(short(join.facts[0][0]), join.mark)]
    if not labels:
        return
    x, y = _middle(start, end)
    top = y - (len(labels) - 1) * LABEL_LINE / 2 + 4
    characters = max(len(row.text) for row in labels) + 2
    width, height = characters * CHARACTER, len(labels) * LABEL_LINE + 2
    if join.door and _is_upright(start, end):
        x += 12 + width / 2
    elif join.door:
        top -= 17
    left, ground_top = x - width / 2, top - 10
    yield (
        f'<rect class="k" x="{left:.0f}" y="{ground_top:.0f}"'
        f' width="{width:.0f}" height="{height}"/>'
    )
    for number, row in enumerate(labels):
        yield text(x, top + number * LABEL_LINE, row, joined(["l", row.mark]))


def _is_upright(start: Point, end: Point) -> bool:
    across = abs(end[0] - start[0])
    down = abs(end[1] - start[1])
    return across < down


def _middle(start: Point, end: Point) -> Point:
    return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2


def _rim(box: Box, other: Box) -> Point:
    """Returns where the line to the middle of another box leaves this one."""
    right, down = other.x - box.x, other.y - box.y
    if not right and not down:
        return box.x, box.y
    to_a_side = box.width / 2 / abs(right) if right else float("inf")
    to_top_or_bottom = box.height / 2 / abs(down) if down else float("inf")
    share = min(to_a_side, to_top_or_bottom, 1)
    return box.x + right * share, box.y + down * share


def _arrow(tail: Point, tip: Point) -> str:
    right, down = tip[0] - tail[0], tip[1] - tail[1]
    length = math.hypot(right, down) or 1
    along = (right / length * ARROW, down / length * ARROW)
    across = (-along[1] / 2, along[0] / 2)
    behind = (tip[0] - along[0], tip[1] - along[1])
    left = (behind[0] + across[0], behind[1] + across[1])
    right_ = (behind[0] - across[0], behind[1] - across[1])
    return f'<path class="a" d="M{point(tip)}L{point(left)}L{point(right_)}z"/>'
