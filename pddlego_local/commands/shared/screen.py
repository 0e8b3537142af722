"""Tables on a terminal or in a pipe, and what is wrong with records. Nothing is cut: where there is
no room for every column, the last ones are left out, and a line says so."""

import os
import sys
from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table

from pddlego_local.core.visible import visible

MOST_PROBLEMS = 20
PIPE_WIDTH = 160  # columns, where nobody says how wide the page is
MOST_WIDTH = 10_000


def screen() -> Console:
    """Standard output: as wide as the terminal or COLUMNS, in a pipe as `PIPE_WIDTH`. Names are
    text: brackets in them mark nothing up."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, width=None if known else PIPE_WIDTH)


def show(console: Console, table: Table) -> None:
    """Prints the columns that fit; `table` loses the others. Its first column is always printed."""
    left_out = list[RenderableType]()
    while len(table.columns) > 1 and _least_width(console, table) > console.width:
        left_out.insert(0, table.columns.pop().header)
    for column in table.columns:
        column.overflow = "fold"
    console.print(table)
    if left_out:
        names = ", ".join(map(str, left_out))
        console.print(f"Left out, for the terminal is narrow: {names}.", markup=False)


def _least_width(console: Console, table: Table) -> int:
    """The least width in which each word has room."""
    unbounded = console.options.update(width=MOST_WIDTH)
    return Measurement.get(console, unbounded, table).minimum


def print_problems(problems: Sequence[str]) -> int:
    """To standard error; returns the command's exit code: 1 if there are any."""
    for problem in problems[:MOST_PROBLEMS]:
        print(visible(f"problem: {problem}"), file=sys.stderr)
    if len(problems) > MOST_PROBLEMS:
        print(f"and {len(problems) - MOST_PROBLEMS} further problems", file=sys.stderr)
    return 1 if problems else 0
