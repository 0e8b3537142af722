"""Tables on a terminal or in a pipe, and what is wrong with records. A name is never cut: where
there is no room for every column, the last ones are left out, and a line says so."""

import os
import sys
from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table

from pddlego_local.core.visible import visible

MOST_PROBLEMS = 20
PIPE_WIDTH = 160  # columns, where nobody says how wide the page is
_BORDER, _PER_COLUMN = 1, 3  # characters that are no text: a line at the left; a line, two blanks


def screen() -> Console:
    """Standard output: as wide as the terminal or COLUMNS, in a pipe as `PIPE_WIDTH`. Names are
    text: brackets in them mark nothing up."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, width=None if known else PIPE_WIDTH)


def show(console: Console, table: Table) -> None:
    """Prints the columns that fit; `table` loses the others. Its first column is always printed."""
    widths = [_width(console, column) for column in table.columns]
    left_out = list[RenderableType]()
    while len(widths) > 1 and _total([one.minimum for one in widths]) > console.width:
        left_out.insert(0, table.columns.pop().header)
        widths.pop()
    for column, width in zip(table.columns, _shared(widths, console.width), strict=True):
        column.width = width
        column.overflow = "fold"
    console.print(table)
    if left_out:
        names = ", ".join(map(str, left_out))
        console.print(f"Left out, for the terminal is narrow: {names}.", markup=False)


def _width(console: Console, column: Column) -> Measurement:
    """What its longest word needs, and what it needs on one line."""
    texts = [column.header, column.footer, *column.cells]
    measured = [Measurement.get(console, console.options, text) for text in texts]
    longest = max(one.maximum for one in measured)
    words = longest if column.no_wrap else max(one.minimum for one in measured)
    return Measurement(words, longest)


def _shared(widths: list[Measurement], room: int) -> list[int]:
    """The widest gives way first, to no less than its longest word."""
    given = [one.maximum for one in widths]
    while _total(given) > room:
        can = [number for number, one in enumerate(widths) if given[number] > one.minimum]
        if not can:
            break
        given[max(can, key=lambda number: given[number])] -= 1
    return given


def _total(widths: list[int]) -> int:
    return _BORDER + sum(width + _PER_COLUMN for width in widths)


def print_problems(problems: Sequence[str]) -> int:
    """To standard error; returns the command's exit code: 1 if there are any."""
    for problem in problems[:MOST_PROBLEMS]:
        print(visible(f"problem: {problem}"), file=sys.stderr)
    if len(problems) > MOST_PROBLEMS:
        print(f"and {len(problems) - MOST_PROBLEMS} further problems", file=sys.stderr)
    return 1 if problems else 0
