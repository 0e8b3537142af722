"""`pddlego rescore`: computes rows again from transcripts and compares them with the
records.
"""

import argparse

from pddlego_local.commands.shared.options import path
from pddlego_local.commands.shared.screen import print_problems
from pddlego_local.core.record.summary import differences
from pddlego_local.core.visible import visible
from pddlego_local.report.cells import find_cells, unrequested


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=path, help="folders below runs/")


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 0, or 1 if something differs or cannot be read."""
    cells = find_cells(arguments.runs)
    found = 0
    for cell in cells:
        lines = [*unrequested(cell)]
        for difference in differences(cell.folder):
            lines.append(f"{cell.folder}: {difference}")
        for line in lines:
            print(visible(line))
        found += len(lines)
    episodes = sum(len(cell.rows) for cell in cells)
    differ = "no difference"
    if found:
        differ = f"{found} difference{'s' if found > 1 else ''}"
    print(f"{differ} in {episodes} episodes of {len(cells)} cells")
    return print_problems(cells.left_out) or (1 if found else 0)
