"""Prints tables on a terminal or in a pipe, and problems of records. No cell is
truncated: if there is no room for every column, the last ones are omitted, and a line
names them.
"""

import os
import sys
from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table

from pddlego_local.core.console import literal_console
from pddlego_local.core.visible import visible

MOST_PROBLEMS = 20
PIPE_WIDTH = 160  # characters, if the width is unknown
MOST_WIDTH = 10_000


def screen() -> Console:
    """Returns a console on standard output, as wide as the terminal or COLUMNS, or
    `PIPE_WIDTH` in a pipe.
    """
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return literal_console(width=None if known else PIPE_WIDTH)


def show(console: Console, table: Table) -> None:
    """Prints the columns that fit, at least the first; the others are removed from
    `table`.
    """
    left_out = list[RenderableType]()
    while len(table.columns) > 1 and _least_width(console, table) > console.width:
        left_out.insert(0, table.columns.pop().header)
    for column in table.columns:
        column.overflow = "fold"
    console.print(table)
    if left_out:
        names = ", ".join(map(str, left_out))
        console.print(f"Columns omitted because the terminal is narrow: {names}.")


def _least_width(console: Console, table: Table) -> int:
    """Returns the least width in which no word is broken."""
    unbounded = console.options.update(width=MOST_WIDTH)
    return Measurement.get(console, unbounded, table).minimum


def print_problems(problems: Sequence[str]) -> int:
    """Prints problems to standard error. Returns the exit code: 1 if there are any,
    else 0.
    """
    for problem in problems[:MOST_PROBLEMS]:
        print(visible(f"problem: {problem}"), file=sys.stderr)
    if len(problems) > MOST_PROBLEMS:
        print(f"and {len(problems) - MOST_PROBLEMS} further problems", file=sys.stderr)
    return 1 if problems else 0
