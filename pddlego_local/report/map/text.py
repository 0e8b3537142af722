"""Draws a map in characters, for terminals."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from rich.text import Text

from pddlego_local.core.visible import in_one_line, visible
from pddlego_local.pddl.conditions import Fact
from pddlego_local.report.map.layout import Cell, Layout, bounds
from pddlego_local.report.map.world import COMPASS, World

MOST_BOXES = 30
LONGEST_NAME = 22  # characters
MOST_LINES = 8  # of one box, and of the facts that are not drawn
WRONG, NEW = "red", "green"
SIGNS = {WRONG: "✗ ", NEW: "+ ", "": ""}
"""Before a fact in words, by its style, the most important first."""
GAP = 3  # columns between two boxes, which hold a way or a door

_Canvas = dict[tuple[int, int], tuple[str, str]]
"""By line and column: a character and its style."""


def text_map(
    whole: World,
    *,
    before: World | None = None,
    wrong: Collection[Fact] = (),
    width: int = 80,
    layout: Layout | None = None,
) -> Text:
    """Returns the map of a world. Facts that the world `before` does not have are
    green, and `wrong` ones are red. With the same `layout`, boxes keep their places
    from map to map. `Text.plain` is the map without styles.
    """
    world = whole.part(MOST_BOXES)
    if not world.boxes:
        return Text("(no map: the problem file has no facts that can be read)\n", "dim")
    styles = dict.fromkeys(world.facts, "")
    if before is not None:
        styles |= dict.fromkeys(world.facts - before.facts, NEW)
    styles |= dict.fromkeys(world.facts & set(wrong), WRONG)
    drawn = _Drawn(world, (layout or Layout()).place(world), styles)
    fits = drawn.width <= width
    text = drawn.text() if fits else Text()
    for line, style in _told(world, styles, drawn.shown if fits else ()):
        text.append(line + "\n", style)
    return text


class _Drawn:
    """One map: its boxes, and the ways between boxes that are neighbours."""

    def __init__(
        self, world: World, cells: Mapping[str, Cell], styles: Mapping[Fact, str]
    ) -> None:
        self._world = world
        self._styles = styles
        self._cells = cells
        self._lines = {box: _box(world, box, styles) for box in world.boxes}
        columns, rows = bounds([cells])
        self._left = dict[int, tuple[int, int]]()  # column: its offset and width
        self._top = dict[int, tuple[int, int]]()
        offset = 0
        for column in columns:
            wide = max((self._size(b)[0] for b in self._in(0, column)), default=0)
            self._left[column] = (offset, wide)
            offset += wide + GAP if wide else 0
        self.width = offset - GAP
        offset = 0
        for row in rows:
            high = max((self._size(b)[1] for b in self._in(1, row)), default=0)
            self._top[row] = (offset, high)
            offset += high + 1 if high else 0
        self._ways = self._drawable()
        in_lines = {
            fact
            for name in world.objects
            for fact in world.about(name, world.facts - world.of_the_player)
        }
        self.shown = {*self._ways, *in_lines, *world.of_the_player}
        """The facts that the drawing shows."""

    def _in(self, axis: int, number: int) -> Iterator[str]:
        return (box for box, cell in self._cells.items() if cell[axis] == number)

    def _size(self, box: str) -> tuple[int, int]:
        lines = self._lines[box]
        return max(len(line) for line, _ in lines) + 4, len(lines) + 2

    def _drawable(self) -> dict[Fact, tuple[Cell, Cell]]:
        """The facts about boxes that are neighbours, with their cells, if the fact
        names no other direction.
        """
        world = self._world
        found = {}
        for (a, b), facts in world.between(world.facts).items():
            (x, y), (x2, y2) = self._cells[a], self._cells[b]
            way = (x2 - x, y2 - y)
            if abs(way[0]) + abs(way[1]) != 1:
                continue
            for fact in facts:
                direction = world.direction(fact)
                if not direction or COMPASS[direction] == way:
                    found[fact] = ((x, y), (x2, y2))
        return found

    def text(self) -> Text:
        canvas: _Canvas = {}
        for fact, (first, second) in sorted(
            self._ways.items(), key=lambda way: self._world.is_door(way[0])
        ):
            self._draw_way(canvas, fact, *sorted([first, second]))
        for box in self._lines:
            self._draw_box(canvas, box)
        text = Text()
        for line in range(max(line for line, _ in canvas) + 1):
            last = max((c for row, c in canvas if row == line), default=-1)
            for column in range(last + 1):
                text.append(*canvas.get((line, column), (" ", "")))
            text.append("\n")
        return text

    def _draw_way(self, canvas: _Canvas, fact: Fact, first: Cell, second: Cell) -> None:
        door = self._world.is_door(fact)
        style = self._styles[fact] or ("yellow" if door else "dim")
        middles = []
        for column, row in (first, second):
            (left, wide), (top, high) = self._left[column], self._top[row]
            middles.append((top + high // 2, left + wide // 2))
        (line, column), (last_line, last_column) = middles
        straight = "─" if line == last_line else "│"
        for down in range(line, last_line + 1):
            for right in range(column, last_column + 1):
                canvas[down, right] = ("▒" if door else straight, style)

    def _draw_box(self, canvas: _Canvas, box: str) -> None:
        column, row = self._cells[box]
        (left, wide), (top, high) = self._left[column], self._top[row]
        lines = self._lines[box]
        width, height = self._size(box)
        left += (wide - width) // 2
        top += (high - height) // 2
        edge = "bold" if lines[0][1] == "bold" else ""
        framed = [("┌" + "─" * (width - 2) + "┐", edge)]
        framed += [(f"│ {line:<{width - 4}} │", style) for line, style in lines]
        framed += [("└" + "─" * (width - 2) + "┘", edge)]
        for down, (line, style) in enumerate(framed):
            for right, character in enumerate(line):
                canvas[top + down, left + right] = (character, style)


def _box(world: World, box: str, styles: Mapping[Fact, str]) -> list[tuple[str, str]]:
    """Returns the lines of a box, with their styles."""
    here = box in world.standing
    goal = any(box in fact for fact in world.goal)
    title = ("● " if here else "") + short(box) + (" ◎" if goal else "")
    lines = [(title, "bold" if here else "")]
    shown = world.facts - world.of_the_player
    for fact in world.about(box, shown):
        lines.append((short(fact[0]), styles[fact]))
    for row in world.rows.get(box, ()):
        facts = world.about(row, shown)
        words = short(world.words(row, facts))
        style = next((styles[fact] for fact in facts if styles[fact]), "")
        lines.append((f"· {short(row)} {words}".rstrip(), style))
    if len(lines) > MOST_LINES:
        left = len(lines) - MOST_LINES + 1
        lines[MOST_LINES - 1 :] = [(f"… {left} more", "dim")]
    return lines


def _told(
    world: World, styles: Mapping[Fact, str], drawn: Collection[Fact]
) -> Iterator[tuple[str, str]]:
    """Yields what the drawing does not show, and what is wrong, with its style."""
    wrong = {fact for fact, style in styles.items() if style == WRONG}
    rest = sorted(world.facts.difference(drawn) | wrong)
    rest.sort(key=lambda fact: [*SIGNS].index(styles[fact]))
    for fact in rest[:MOST_LINES]:
        yield SIGNS[styles[fact]] + written(fact), styles[fact]
    if len(rest) > MOST_LINES:
        yield f"… {len(rest) - MOST_LINES} more facts", "dim"
    if world.left_out:
        are = "object is" if world.left_out == 1 else "objects are"
        yield f"{world.left_out} more {are} further away", "dim"
    if world.goal_text:
        yield "goal: " + short(world.goal_text, 200), "cyan"


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """Returns a name that is safe to show, cut if it is long."""
    name = in_one_line(visible(name[: longest + 1]))
    return name if len(name) <= longest else name[: longest - 1] + "…"


def written(fact: Iterable[str]) -> str:
    return f"({' '.join(map(short, fact))})"
