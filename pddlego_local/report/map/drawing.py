"""Draws maps as SVG that needs no script and no other file. Its classes are styled by
`templates/map.css`.

    album = Album([believed, true, believed_later])     # one grid for all of them
    album.draw(0, marks={("at", "hall"): "wrong"}, path=["kitchen", "hall"])

A fact's mark is one of MARKS. Each has a sign, too, since not everybody sees colours.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup, escape

from pddlego_local.pddl.conditions import Fact
from pddlego_local.report.map.layout import Cell, Layout, bounds
from pddlego_local.report.map.text import short, written
from pddlego_local.report.map.world import COMPASS, World

MARKS: Mapping[str, str] = {
    "wrong": "✗", "missed": "!", "new": "+", "unseen": "?", "": ""
}  # fmt: skip
"""The marks, the most important first, with their signs."""

CHARACTER = 6.7  # width in pixels, at the size of the font
LINE = 15  # height
GAP_X, GAP_Y, MOST_GAP = 56, 44, 130  # between boxes that lines join
LEAST_GAP = 16
MOST_ROWS = 7  # of one box
LEAST_CHARACTERS = 7  # of a box's width
EDGE, LEAST = 6, 40  # around a map, and the least width and height of one
MOST_LABELS = 3  # of one line
LABEL_LINE = 12  # height
MOST_TOLD = 12  # facts, when the mouse rests on a part
ARROW = 7  # length
ASKED = "goal: "
ARROWS: Mapping[Cell, str] = {
    (0, -1): "↑", (0, 1): "↓", (1, 0): "→", (-1, 0): "←",
    (1, -1): "↗", (-1, -1): "↖", (1, 1): "↘", (-1, 1): "↙",
}  # fmt: skip
"""Before a label of a line that goes both ways: the way that it is about."""

_Point = tuple[float, float]


class _Box(NamedTuple):
    """The middle of a box, and its size."""

    x: float
    y: float
    width: float
    height: float


class _Row(NamedTuple):
    text: str
    mark: str


@dataclass(frozen=True)
class _Join:
    """The facts that join two boxes, drawn as one line. `labels` are those that the
    place of the boxes does not say.
    """

    facts: Sequence[Fact]
    labels: Sequence[_Row]
    mark: str
    door: bool
    towards: str  # the box with the arrow, "" if the facts go both ways

    @property
    def is_asked(self) -> bool:
        """Whether only the goal has these facts."""
        asked = [row for row in self.labels if row.text.startswith(ASKED)]
        return len(asked) == len(self.labels) == len(self.facts)


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
            for (a, b), join in _joins(world, cells, {}).items():
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
    ) -> Markup:
        """Draws a world. `path` are the objects that the player goes to."""
        world = self.worlds[number]
        marks = marks or {}
        boxes = {box: self._box(number, box) for box in world.boxes}
        parts = [*_path(world, boxes, path)]
        for pair, join in _joins(world, self._cells[number], marks).items():
            parts += _line(boxes[pair[0]], boxes[pair[1]], pair, join)
        for box, place in boxes.items():
            parts += _node(world, box, place, marks)
        told = f"{len(world.boxes)} places and things, {len(world.facts)} facts"
        width, height = f"{self.width:.0f}", f"{self.height:.0f}"
        return Markup(
            f'<svg class="map" role="img" aria-label="{told}" width="{width}"'
            f' height="{height}" viewBox="0 0 {width} {height}"'
            ' xmlns="http://www.w3.org/2000/svg">' + "".join(parts) + "</svg>"
        )

    def _box(self, number: int, box: str) -> _Box:
        column, row = self._cells[number][box]
        return _Box(self._x[column], self._y[row], *self._sizes[number][box])


# ---- Boxes


def _size(world: World, box: str) -> tuple[float, float]:
    rows = _rows(world, box, {})
    longest = max(len(row.text) for row in rows)
    room_for_a_sign = 3
    characters = max(longest + room_for_a_sign, LEAST_CHARACTERS)
    return characters * CHARACTER + 8, min(len(rows), MOST_ROWS) * LINE + 9


def _rows(world: World, box: str, marks: Mapping[Fact, str]) -> list[_Row]:
    """Returns all lines of a box: its name, the facts about it, and what is in it."""
    title = ("● " if box in world.standing else "") + short(box)
    rows = [_Row(title, "")]
    shown = world.facts - world.of_the_player
    for fact in world.about(box, shown):
        rows.append(_Row(short(fact[0]), marks.get(fact, "")))
    for thing in world.rows.get(box, ()):
        facts = world.about(thing, shown)
        words = " ".join(map(short, world.unimplied(facts)))
        rows.append(_Row(f"· {short(thing)} {words}".rstrip(), worst(facts, marks)))
    return rows


def _cut(rows: Sequence[_Row], most: int) -> list[_Row]:
    """Returns at most so many rows, the wrong and the missed ones among them. The last
    one counts those that are left out, and has the most important of their marks.
    """
    if len(rows) <= most:
        return [*rows]
    first = sorted(rows, key=lambda row: row.mark not in ("wrong", "missed"))
    shown = first[: most - 1]
    hidden = [row for row in rows if row not in shown]
    mark = _most_important({row.mark for row in hidden})
    kept = [row for row in rows if row in shown]
    return [*kept, _Row(f"… {len(hidden)} more", mark)]


def worst(facts: Sequence[Fact], marks: Mapping[Fact, str]) -> str:
    """Returns the most important mark among facts."""
    return _most_important({marks.get(fact, "") for fact in facts})


def _most_important(found: Collection[str]) -> str:
    return next((mark for mark in MARKS if mark in found), "")


def _node(
    world: World, box: str, place: _Box, marks: Mapping[Fact, str]
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
    yield f'<g class="{_joined(classes)}">'
    yield _title([fact for fact in world.facts if box in fact[1:]][:MOST_TOLD], box)
    yield (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{place.width:.0f}"'
        f' height="{place.height:.0f}" rx="5"/>'
    )
    title, *others = _rows(world, box, marks)
    rows = _cut(others, MOST_ROWS - 1)
    heading = _Row(title.text, title.mark or mark)
    yield _text(left + 7, top + LINE, heading, _joined(["b", heading.mark]))
    for number, row in enumerate(rows, start=2):
        yield _text(left + 7, top + number * LINE, row, row.mark)
    yield "</g>"


def _joined(classes: Iterable[str]) -> str:
    return " ".join(filter(None, classes))


def _text(x: float, y: float, row: _Row, classes: str) -> str:
    sign = f"{MARKS[row.mark]} " if row.mark else ""
    class_ = f' class="{classes}"' if classes else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{class_}>{escape(sign + row.text)}</text>'


def _title(facts: Sequence[Fact], name: str = "") -> str:
    """What a browser shows when the mouse rests on a part."""
    lines = [short(name, 200)] if name else []
    lines += [written(fact) for fact in facts]
    return f"<title>{escape(chr(10).join(lines))}</title>"


# ---- Lines between boxes


def _joins(
    world: World, cells: Mapping[str, Cell], marks: Mapping[Fact, str]
) -> dict[tuple[str, str], _Join]:
    """Returns the lines of a map, each by its two boxes."""
    ways: dict[tuple[str, str], dict[tuple[str, str], list[Fact]]] = {}
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
    by_way: Mapping[tuple[str, str], Sequence[Fact]],
    cells: Mapping[str, Cell],
    marks: Mapping[Fact, str],
) -> _Join:
    """Takes the facts between two boxes by their way, from one box to the other."""
    goes_both_ways = len(by_way) == 2
    labels = []
    for way, facts in by_way.items():
        arrow = f"{_arrow_of(way, cells)} " if goes_both_ways else ""
        for fact in facts:
            if fact not in world.facts:
                labels.append(_Row(f"{ASKED}{short(fact[0])}", ""))
            elif not _as_drawn(world, fact, cells):
                more = [name for name in fact[1:] if name not in way]
                words = " ".join(map(short, [fact[0], *more]))
                labels.append(_Row(arrow + words, marks.get(fact, "")))
    every = [fact for facts in by_way.values() for fact in facts]
    (_, towards), *_ = by_way
    return _Join(
        facts=every,
        labels=[*dict.fromkeys(labels)],
        mark=worst(every, marks),
        door=any(map(world.is_door, every)),
        towards="" if goes_both_ways else towards,
    )


def _way_of(first: Cell, second: Cell) -> Cell:
    """Returns the way from one cell to another, as in COMPASS."""
    right, down = second[0] - first[0], second[1] - first[1]
    return (right > 0) - (right < 0), (down > 0) - (down < 0)


def _arrow_of(way: tuple[str, str], cells: Mapping[str, Cell]) -> str:
    return ARROWS[_way_of(cells[way[0]], cells[way[1]])]


def _as_drawn(world: World, fact: Fact, cells: Mapping[str, Cell]) -> bool:
    """Whether the second box lies from the first as the direction in the fact says."""
    direction = world.direction(fact)
    if not direction:
        return False
    first, second = (cells[world.box_of[name]] for name in world.terms(fact))
    return _way_of(first, second) == COMPASS[direction]


def _line(
    first: _Box, second: _Box, pair: tuple[str, str], join: _Join
) -> Iterator[str]:
    start = _rim(first, second)
    end = _rim(second, first)
    door, asked = "door" if join.door else "", "asked" if join.is_asked else ""
    yield f'<g class="{_joined(["e", join.mark, door, asked])}">' + _title(
        join.facts[:MOST_TOLD]
    )
    yield f'<path d="M{_point(start)}L{_point(end)}"/>'
    if join.towards:
        tail, tip = (start, end) if join.towards == pair[1] else (end, start)
        yield _arrow(tail, tip)
    if join.door:
        yield _door(start, end)
    yield from _labels(start, end, join)
    yield "</g>"


def _door(start: _Point, end: _Point) -> str:
    """A bar across a line."""
    x, y = _middle(start, end)
    is_upright = abs(end[0] - start[0]) >= abs(end[1] - start[1])
    width, height = (8, 18) if is_upright else (18, 8)
    left, top = x - width / 2, y - height / 2
    return f'<rect x="{left:.0f}" y="{top:.0f}" width="{width}" height="{height}"/>'


def _labels(start: _Point, end: _Point, join: _Join) -> Iterator[str]:
    """The words of a line, on a ground that hides what is behind them."""
    labels = _cut(join.labels, MOST_LABELS)
    if not labels and join.mark in ("wrong", "missed"):
        labels = [_Row(short(join.facts[0][0]), join.mark)]
    if not labels:
        return
    x, y = _middle(start, end)
    top = y - (len(labels) - 1) * LABEL_LINE / 2 + 4
    if join.door:
        top -= 17
    characters = max(len(row.text) for row in labels) + 2
    width, height = characters * CHARACTER, len(labels) * LABEL_LINE + 2
    yield (
        f'<rect class="k" x="{x - width / 2:.0f}" y="{top - 10:.0f}"'
        f' width="{width:.0f}" height="{height}"/>'
    )
    for number, row in enumerate(labels):
        yield _text(x, top + number * LABEL_LINE, row, _joined(["l", row.mark]))


def _middle(start: _Point, end: _Point) -> _Point:
    return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2


def _rim(box: _Box, other: _Box) -> _Point:
    """Returns where the line to the middle of another box leaves this one."""
    right, down = other.x - box.x, other.y - box.y
    if not right and not down:
        return box.x, box.y
    to_a_side = box.width / 2 / abs(right) if right else float("inf")
    to_top_or_bottom = box.height / 2 / abs(down) if down else float("inf")
    share = min(to_a_side, to_top_or_bottom, 1)
    return box.x + right * share, box.y + down * share


def _arrow(tail: _Point, tip: _Point) -> str:
    right, down = tip[0] - tail[0], tip[1] - tail[1]
    length = math.hypot(right, down) or 1
    along = (right / length * ARROW, down / length * ARROW)
    across = (-along[1] / 2, along[0] / 2)
    behind = (tip[0] - along[0], tip[1] - along[1])
    left = (behind[0] + across[0], behind[1] + across[1])
    right_ = (behind[0] - across[0], behind[1] - across[1])
    return f'<path class="a" d="M{_point(tip)}L{_point(left)}L{_point(right_)}z"/>'


def _path(
    world: World, boxes: Mapping[str, _Box], path: Sequence[str]
) -> Iterator[str]:
    places = [world.box_of.get(name, name) for name in path]
    for first, second in pairwise(places):
        if first != second and first in boxes and second in boxes:
            start, end = boxes[first], boxes[second]
            line = f"M{_point((start.x, start.y))}L{_point((end.x, end.y))}"
            yield f'<path class="path" d="{line}"/>'


def _point(point: _Point) -> str:
    return f"{point[0]:.0f} {point[1]:.0f}"
