"""Gives each box of a map a cell of a grid. A box that stays does not jump: one layout
places the worlds of a whole episode, one after the other.

Directions place a box beside another. Without them, networkx lays out the boxes that
facts join, and the others stand in rows below.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import networkx as nx

from pddlego_local.report.map.world import COMPASS, World

Cell = tuple[int, int]
"""Column and row, to the right and downwards."""

COLUMNS = 3  # of the boxes that nothing joins


class Layout:
    """Remembers the cell of every box that it has placed."""

    def __init__(self) -> None:
        self._known: dict[str, Cell] = {}

    def place(self, world: World) -> dict[str, Cell]:
        """Returns the cell of each box. Two boxes never share one: a box that was
        placed while another was away gives way to it.
        """
        cells: dict[str, Cell] = {}
        taken = set[Cell]()
        boxes = set(world.boxes)
        for box, cell in self._known.items():
            if box in boxes and cell not in taken:
                cells[box] = cell
                taken.add(cell)
        self._by_directions(world, cells)
        self._by_springs(world, cells)
        self._in_rows(world, cells)
        self._known |= cells
        return cells

    @staticmethod
    def _by_directions(world: World, cells: dict[str, Cell]) -> None:
        beside = [*_directed(world)]
        joined = {box for a, _, b in beside for box in (a, b)}
        starts = [*sorted(world.standing & joined), *sorted(joined)]
        while joined - cells.keys():
            step = next(
                (s for s in beside if s[0] in cells and s[2] not in cells), None
            )
            if step is None:
                start = next(box for box in starts if box not in cells)
                cells[start] = _free((0, 0), cells.values())
                continue
            a, (right, down), b = step
            column, row = cells[a]
            cells[b] = _free((column + right, row + down), cells.values())

    @staticmethod
    def _by_springs(world: World, cells: dict[str, Cell]) -> None:
        graph = nx.Graph()
        graph.add_edges_from(sorted(world.between(world.facts | world.goal)))
        graph.remove_nodes_from([box for box in graph if box not in world.boxes])
        new = [box for box in graph if box not in cells]
        if not new:
            return
        fixed = {box: cells[box] for box in graph if box in cells}
        size = 0.55 * len(graph) ** 0.5
        if fixed:
            found = nx.spring_layout(
                graph, k=1, pos=fixed, fixed=[*fixed], seed=0, scale=None
            )
        else:
            found = nx.spring_layout(graph, seed=0, scale=size, iterations=200)
        for box in new:
            x, y = found[box]
            cells[box] = _free((round(float(x)), round(float(y))), cells.values())

    @staticmethod
    def _in_rows(world: World, cells: dict[str, Cell]) -> None:
        new = [box for box in world.boxes if box not in cells]
        joined = {box for pair in world.between(world.facts) for box in pair}
        top = max((cells[box][1] for box in joined if box in cells), default=-1) + 1
        taken = set(cells.values())
        number = 0
        for box in new:
            while (cell := (number % COLUMNS, top + number // COLUMNS)) in taken:
                number += 1
            cells[box] = cell
            taken.add(cell)


def _directed(world: World) -> Iterator[tuple[str, tuple[int, int], str]]:
    """Yields (box, way, box beside it), for each direction that a fact names and for
    its reverse.
    """
    for fact in sorted(world.facts, key=lambda fact: (len(fact), fact)):
        if direction := world.direction(fact):
            a, b = world.terms(fact)
            right, down = COMPASS[direction]
            if a != b and a in world.boxes and b in world.boxes:
                yield a, (right, down), b
                yield b, (-right, -down), a


def _free(wanted: Cell, taken: Collection[Cell]) -> Cell:
    """Returns the free cell that is nearest to the wanted one."""
    used = set(taken)
    column, row = wanted
    reach = 0
    while True:
        ring = [
            (column + right, row + down)
            for right in range(-reach, reach + 1)
            for down in range(-reach, reach + 1)
            if max(abs(right), abs(down)) == reach
        ]
        free = [cell for cell in ring if cell not in used]
        if free:
            return min(
                free,
                key=lambda cell: (abs(cell[0] - column) + abs(cell[1] - row), cell),
            )
        reach += 1


def bounds(cells: Sequence[Mapping[str, Cell]]) -> tuple[range, range]:
    """Returns the columns and the rows that the cells of some worlds take."""
    every = [cell for world in cells for cell in world.values()] or [(0, 0)]
    columns = [column for column, _ in every]
    rows = [row for _, row in every]
    return range(min(columns), max(columns) + 1), range(min(rows), max(rows) + 1)
