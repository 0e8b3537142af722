"""`pddlego export`: every model call of one or more runs as a line of a CSV."""

import argparse
from pathlib import Path

from pddlego_local.errors import RecordFault
from pddlego_local.report.calls import write_calls
from pddlego_local.report.cells import find_cells

HELP = "all model calls as one CSV, a line each"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, help="folders below runs/")
    parser.add_argument("--out", type=Path, required=True, help="the CSV to write")


def carry_out(arguments: argparse.Namespace) -> int:
    cells = find_cells(arguments.runs)
    try:
        count = write_calls(cells, arguments.out)
    except OSError as error:
        raise RecordFault(f"cannot write {arguments.out}: {error.strerror or error}") from error
    print(f"{count} calls written to {arguments.out}")
    return 0
