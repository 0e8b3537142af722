"""Draws maps as SVG that needs no script and no other file. Its classes are styled by
`templates/map.css`.

    album = Album([believed, true, believed_later])     # one grid for all of them
    album.draw(0, marks={("at", "hall"): "wrong"}, path=["kitchen", "hall"])

A fact's mark is one of MARKS. Each has a sign, too, since not everybody sees colours.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup, escape

from pddlego_local.pddl.conditions import Fact
from pddlego_local.report.map.layout import Cell, Layout, bounds
from pddlego_local.report.map.text import short, written
from pddlego_local.report.map.world import COMPASS, World, is_door

MARKS: Mapping[str, str] = {
    "wrong": "✗", "missed": "!", "new": "+", "unseen": "?", "": ""
}  # fmt: skip
"""The marks, the most important first, with their signs."""

CHARACTER = 6.7  # width in pixels, at the size of the font
LINE = 15  # height
GAP_X, GAP_Y, MOST_GAP = 56, 44, 130  # between boxes
MOST_ROWS = 7  # of one box
LARGE = 576  # pixels; a phone shows no more without making it too small to read
MOST_LABELS = 3  # of one line


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
        self._x, self.width = self._along(0, columns, self._gap())
        self._y, self.height = self._along(1, rows, GAP_Y)

    def _gap(self) -> float:
        """Returns the distance of columns, in which labels have room."""
        longest = 0
        for world, cells in zip(self.worlds, self._cells, strict=True):
            for (a, b), join in _joins(world, cells, {}).items():
                if cells[a][0] != cells[b][0]:
                    longest = max([longest, *(len(row.text) for row in join.labels)])
        return min(max(GAP_X, longest * CHARACTER + 24), MOST_GAP)

    def _along(
        self, axis: int, numbers: range, gap: float
    ) -> tuple[dict[int, float], float]:
        """Returns the middle of each column or row, and the length of all of them."""
        most = dict.fromkeys(numbers, 0.0)
        for cells, sizes in zip(self._cells, self._sizes, strict=True):
            for box, cell in cells.items():
                most[cell[axis]] = max(most[cell[axis]], sizes[box][axis])
        middles = {}
        offset = 6.0
        for number, size in most.items():
            middles[number] = offset + size / 2
            offset += size + gap if size else 0
        return middles, max(offset - gap + 6, 40)

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
        size = f"{self.width:.0f} {self.height:.0f}"
        width, height = size.split()
        class_ = "map large" if self.width > LARGE else "map"
        return Markup(
            f'<svg class="{class_}" role="img" aria-label="{told}" viewBox="0 0 {size}"'
            f' width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">'
            + "".join(parts)
            + "</svg>"
        )

    def _box(self, number: int, box: str) -> _Box:
        column, row = self._cells[number][box]
        return _Box(self._x[column], self._y[row], *self._sizes[number][box])


# ---- Boxes


def _size(world: World, box: str) -> tuple[float, float]:
    rows = _rows(world, box, {})
    longest = max(len(row.text) for row in rows)
    return max(longest + 3, 7) * CHARACTER + 8, len(rows) * LINE + 9


def _rows(world: World, box: str, marks: Mapping[Fact, str]) -> list[_Row]:
    """Returns the lines in a box: its name, the facts about it, and what is in it."""
    title = ("● " if box in world.standing else "") + short(box)
    rows = [_Row(title, "")]
    shown = world.facts - world.of_the_player
    for fact in world.about(box, shown):
        rows.append(_Row(short(fact[0]), marks.get(fact, "")))
    for thing in world.rows.get(box, ()):
        facts = world.about(thing, shown)
        words = " ".join(short(fact[0]) for fact in facts)
        rows.append(_Row(f"· {short(thing)} {words}".rstrip(), worst(facts, marks)))
    if len(rows) > MOST_ROWS:
        left = len(rows) - MOST_ROWS + 1
        hidden = [row.mark for row in rows[MOST_ROWS - 1 :]]
        mark = next((mark for mark in MARKS if mark in hidden), "")
        rows[MOST_ROWS - 1 :] = [_Row(f"… {left} more", mark)]
    return rows


def worst(facts: Sequence[Fact], marks: Mapping[Fact, str]) -> str:
    """Returns the most important mark among facts."""
    found = {marks.get(fact, "") for fact in facts}
    return next((mark for mark in MARKS if mark in found), "")


def _node(
    world: World, box: str, place: _Box, marks: Mapping[Fact, str]
) -> Iterator[str]:
    stood = [fact for fact in world.of_the_player if fact[-1] == box]
    classes = ["n"]
    if stood:
        classes += ["here", worst(stood, marks)]
    if any(box == world.box_of.get(n, n) for fact in world.goal for n in fact[1:]):
        classes.append("goal")
    left, top = place.x - place.width / 2, place.y - place.height / 2
    yield f'<g class="{" ".join(filter(None, classes))}">'
    yield _title([fact for fact in world.facts if box in fact[1:]][:12], box)
    yield (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{place.width:.0f}"'
        f' height="{place.height:.0f}" rx="5"/>'
    )
    for number, row in enumerate(_rows(world, box, marks)):
        y = top + (number + 1) * LINE
        mark = row.mark or (worst(stood, marks) if number == 0 else "")
        classes_ = " ".join(filter(None, ["b" if number == 0 else "", mark]))
        yield _text(left + 7, y, _Row(row.text, mark), classes_)
    yield "</g>"


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
    pairs: dict[tuple[str, str], list[Fact]] = {}
    ways: dict[tuple[str, str], set[str]] = {}
    asked = world.goal - world.facts
    for (a, b), facts in world.between(world.facts | asked).items():
        if a in cells and b in cells:
            pair = (min(a, b), max(a, b))
            pairs.setdefault(pair, []).extend(facts)
            ways.setdefault(pair, set()).add(b)
    joins = {}
    for pair, facts in pairs.items():
        labels = []
        for fact in facts:
            if fact in asked:
                labels.append(_Row(f"goal: {short(fact[0])}", ""))
            elif not _as_drawn(world, fact, cells):
                more = [name for name in fact[1:] if name not in pair]
                words = " ".join(map(short, [fact[0], *more]))
                labels.append(_Row(words, marks.get(fact, "")))
        towards = ways[pair]
        joins[pair] = _Join(
            facts=facts,
            labels=[*dict.fromkeys(labels)],
            mark=worst(facts, marks),
            door=any(is_door(fact) for fact in facts),
            towards=min(towards) if len(towards) == 1 else "",
        )
    return joins


def _as_drawn(world: World, fact: Fact, cells: Mapping[str, Cell]) -> bool:
    """Whether the second box lies from the first as the direction in the fact says."""
    direction = world.direction(fact)
    if not direction:
        return False
    (x, y), (x2, y2) = (cells[world.box_of[name]] for name in world.terms(fact))
    way = ((x2 > x) - (x2 < x), (y2 > y) - (y2 < y))
    return way == COMPASS[direction]


def _line(
    first: _Box, second: _Box, pair: tuple[str, str], join: _Join
) -> Iterator[str]:
    start = _rim(first, second)
    end = _rim(second, first)
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    classes = " ".join(filter(None, ["e", join.mark, "door" if join.door else ""]))
    if join.labels and all(row.text.startswith("goal: ") for row in join.labels):
        classes += " asked" if len(join.labels) == len(join.facts) else ""
    yield f'<g class="{classes}">' + _title(join.facts[:12])
    yield f'<path d="M{_point(start)}L{_point(end)}"/>'
    if join.towards:
        tail, tip = (start, end) if join.towards == pair[1] else (end, start)
        yield _arrow(tail, tip)
    if join.door:
        x, y = middle
        upright = abs(end[0] - start[0]) >= abs(end[1] - start[1])
        width, height = (8, 18) if upright else (18, 8)
        yield (
            f'<rect x="{x - width / 2:.0f}" y="{y - height / 2:.0f}"'
            f' width="{width}" height="{height}"/>'
        )
    labels = [*join.labels]
    if len(labels) > MOST_LABELS:
        left = len(labels) - MOST_LABELS + 1
        labels[MOST_LABELS - 1 :] = [_Row(f"… {left} more", join.mark)]
    if not labels and join.mark in ("wrong", "missed"):
        labels = [_Row(short(join.facts[0][0]), join.mark)]
    top = middle[1] - (len(labels) - 1) * 6 + 4
    if labels and join.door:
        top -= 17
    if labels:
        behind = (max(len(row.text) for row in labels) + 2) * CHARACTER
        yield (
            f'<rect class="k" x="{middle[0] - behind / 2:.0f}" y="{top - 10:.0f}"'
            f' width="{behind:.0f}" height="{len(labels) * 12 + 2}"/>'
        )
    for number, row in enumerate(labels):
        yield _text(middle[0], top + number * 12, row, f"l {row.mark}".rstrip())
    yield "</g>"


def _rim(box: _Box, other: _Box) -> tuple[float, float]:
    """Returns where the line to the middle of another box leaves this one."""
    dx, dy = other.x - box.x, other.y - box.y
    if not dx and not dy:
        return box.x, box.y
    across = box.width / 2 / abs(dx) if dx else float("inf")
    along = box.height / 2 / abs(dy) if dy else float("inf")
    share = min(across, along, 1)
    return box.x + dx * share, box.y + dy * share


def _arrow(tail: tuple[float, float], tip: tuple[float, float]) -> str:
    dx, dy = tip[0] - tail[0], tip[1] - tail[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1
    dx, dy = dx / length * 7, dy / length * 7
    left = (tip[0] - dx - dy / 2, tip[1] - dy + dx / 2)
    right = (tip[0] - dx + dy / 2, tip[1] - dy - dx / 2)
    return f'<path class="a" d="M{_point(tip)}L{_point(left)}L{_point(right)}z"/>'


def _path(
    world: World, boxes: Mapping[str, _Box], path: Sequence[str]
) -> Iterator[str]:
    places = [world.box_of.get(name, name) for name in path]
    steps = [(a, b) for a, b in pairwise(places) if a != b]
    for a, b in steps:
        if a in boxes and b in boxes:
            start, end = boxes[a], boxes[b]
            yield (
                f'<path class="path" d="M{_point((start.x, start.y))}'
                f'L{_point((end.x, end.y))}"/>'
            )


def _point(point: tuple[float, float]) -> str:
    return f"{point[0]:.0f} {point[1]:.0f}"
