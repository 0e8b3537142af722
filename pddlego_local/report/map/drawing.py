"""Draws maps as SVG that needs no script and no other file. Its classes are styled by
`templates/map.css`.

    album = Album([believed, true, believed_later])     # one grid for all of them
    album.draw(0, marks={("at", "hall"): "wrong"}, path=["kitchen", "hall"])

A fact's mark is one of `svg.MARKS`. Each has a sign, too, since not everybody sees
colours.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup

from pddlego_local.pddl.conditions import Fact
from pddlego_local.report.map.layout import Layout, bounds
from pddlego_local.report.map.lines import joins, line
from pddlego_local.report.map.svg import (
    CHARACTER,
    MOST_TOLD,
    Box,
    Row,
    cut,
    joined,
    point,
    text,
    title,
    worst,
)
from pddlego_local.report.map.text import short
from pddlego_local.report.map.world import World

LINE = 15  # height of a line of text
GAP_X, GAP_Y, MOST_GAP = 48, 44, 110  # between boxes that lines join
LEAST_GAP = 16
MOST_ROWS = 7  # of one box
LONGEST_ROW = 24  # characters; the rest is seen when the mouse rests on the box
LEAST_CHARACTERS = 7  # of a box's width
EDGE, LEAST = 6, 40  # around a map, and the least width and height of one
WIDE = 640  # two wider maps are hard to read beside each other


class Album:
    """Maps on one grid, on which a box has the same place in each of them."""

    def __init__(self, worlds: Sequence[World]) -> None:
        layout = Layout()
        self.worlds = [world.part() for world in worlds]
        self._cells = [layout.place(world) for world in self.worlds]
        self._sizes = [
            {box: _size(world, box) for box in world.boxes} for world in self.worlds
        ]
        columns, rows = bounds(self._cells)
        gap_x, gap_y = self._gaps()
        self._x, self.width = self._along(0, columns, gap_x)
        self._y, self.height = self._along(1, rows, gap_y)

    def _gaps(self) -> tuple[float, float]:
        """Returns the distances of columns, in which labels have room, and of rows.
        Both are small if there are no lines.
        """
        has_lines = False
        longest = 0
        for world, cells in zip(self.worlds, self._cells, strict=True):
            for (a, b), join in joins(world, cells, {}).items():
                has_lines = True
                if cells[a][0] != cells[b][0]:
                    longest = max([longest, *(len(row.text) for row in join.labels)])
        if not has_lines:
            return LEAST_GAP, LEAST_GAP
        return min(max(GAP_X, longest * CHARACTER + 24), MOST_GAP), GAP_Y

    def _along(
        self, axis: int, numbers: range, gap: float
    ) -> tuple[dict[int, float], float]:
        """Returns the middle of each column or row, and the length of all of them."""
        longest = dict.fromkeys(numbers, 0.0)
        for cells, sizes in zip(self._cells, self._sizes, strict=True):
            for box, cell in cells.items():
                number = cell[axis]
                longest[number] = max(longest[number], sizes[box][axis])
        middles = {}
        offset = float(EDGE)
        for number, length in longest.items():
            middles[number] = offset + length / 2
            offset += length + gap if length else 0
        whole = offset - gap + EDGE
        return middles, max(whole, LEAST)

    def draw(
        self,
        number: int,
        marks: Mapping[Fact, str] | None = None,
        path: Sequence[str] = (),
        beside: int | None = None,
    ) -> Markup:
        """Draws a world. `path` are the objects that the player goes to. If the maps of
        all worlds are too wide to be read, only the part is shown that has boxes of
        this world or of the one `beside` it.
        """
        world = self.worlds[number]
        marks = marks or {}
        boxes = {box: self._box(number, box) for box in world.boxes}
        parts = [*_path(world, boxes, path)]
        for pair, join in joins(world, self._cells[number], marks).items():
            parts += line(boxes[pair[0]], boxes[pair[1]], pair, join)
        for box, place in boxes.items():
            parts += _node(world, box, place, marks)
        told = f"{len(world.boxes)} places and things, {len(world.facts)} facts"
        left, top, width, height = self._view(number, beside)
        return Markup(
            f'<svg class="map" role="img" aria-label="{told}" width="{width:.0f}"'
            f' height="{height:.0f}" viewBox="{left:.0f} {top:.0f} {width:.0f}'
            f' {height:.0f}" xmlns="http://www.w3.org/2000/svg">'
            + "".join(parts)
            + "</svg>"
        )

    def _view(
        self, number: int, beside: int | None
    ) -> tuple[float, float, float, float]:
        """Returns the left, the top, the width and the height of what is shown."""
        shown = [number] if beside is None else [number, beside]
        boxes = [self._box(n, box) for n in shown for box in self.worlds[n].boxes]
        if self.width <= WIDE or not boxes:
            return 0, 0, self.width, self.height
        left = min(box.x - box.width / 2 for box in boxes) - EDGE
        right = max(box.x + box.width / 2 for box in boxes) + EDGE
        top = min(box.y - box.height / 2 for box in boxes) - EDGE
        bottom = max(box.y + box.height / 2 for box in boxes) + EDGE
        return left, top, right - left, bottom - top

    def _box(self, number: int, box: str) -> Box:
        column, row = self._cells[number][box]
        return Box(self._x[column], self._y[row], *self._sizes[number][box])


def _size(world: World, box: str) -> tuple[float, float]:
    rows = _rows(world, box, {})
    longest = max(len(row.text) for row in rows)
    room_for_a_sign = 3
    characters = max(longest + room_for_a_sign, LEAST_CHARACTERS)
    return characters * CHARACTER + 8, min(len(rows), MOST_ROWS) * LINE + 9


def _rows(world: World, box: str, marks: Mapping[Fact, str]) -> list[Row]:
    """Returns all lines of a box: its name, the facts about it, and what is in it."""
    name = ("● " if box in world.standing else "") + short(box)
    rows = [Row(name, "")]
    shown = world.facts - world.of_the_player
    for fact in world.about(box, shown):
        rows.append(Row(short(fact[0]), marks.get(fact, "")))
    for thing in world.rows.get(box, ()):
        facts = world.about(thing, shown)
        words = f"{short(thing)} {world.words(thing, facts)}".rstrip()
        rows.append(Row(f"· {short(words, LONGEST_ROW)}", worst(facts, marks)))
    return rows


def _node(
    world: World, box: str, place: Box, marks: Mapping[Fact, str]
) -> Iterator[str]:
    stood = [fact for fact in world.of_the_player if fact[-1] == box]
    mark = worst(stood, marks)
    asked = {world.box_of.get(name, name) for fact in world.goal for name in fact[1:]}
    classes = ["n"]
    if stood:
        classes += ["here", mark]
    if box in asked:
        classes.append("goal")
    left, top = place.x - place.width / 2, place.y - place.height / 2
    yield f'<g class="{joined(classes)}">'
    told = sorted(fact for fact in world.facts if box in fact[1:])
    yield title(told[:MOST_TOLD], box)
    yield (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{place.width:.0f}"'
        f' height="{place.height:.0f}" rx="5"/>'
    )
    heading, *others = _rows(world, box, marks)
    rows = cut(others, MOST_ROWS - 1)
    heading = heading._replace(mark=heading.mark or mark)
    yield text(left + 7, top + LINE, heading, joined(["b", heading.mark]))
    for number, row in enumerate(rows, start=2):
        yield text(left + 7, top + number * LINE, row, row.mark)
    yield "</g>"


def _path(world: World, boxes: Mapping[str, Box], path: Sequence[str]) -> Iterator[str]:
    places = [world.box_of.get(name, name) for name in path]
    for first, second in pairwise(places):
        if first != second and first in boxes and second in boxes:
            start, end = boxes[first], boxes[second]
            way = f"M{point((start.x, start.y))}L{point((end.x, end.y))}"
            yield f'<path class="path" d="{way}"/>'
