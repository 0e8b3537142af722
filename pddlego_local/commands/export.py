"""`pddlego export`: every model call as a line of a CSV, or every cell as a log of inspect_ai."""

import argparse
from pathlib import Path

from pddlego_local.errors import RecordFault
from pddlego_local.report.calls import write_calls
from pddlego_local.report.cells import find_cells
from pddlego_local.report.inspect_log import write_logs

HELP = "all model calls as one CSV, or logs for `inspect view`"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, help="folders below runs/")
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--out", type=Path, help="the CSV to write, a line for each call")
    to.add_argument("--inspect", type=Path, metavar="FOLDER", help="a log for each cell, in FOLDER")


def carry_out(arguments: argparse.Namespace) -> int:
    cells = find_cells(arguments.runs)
    out: Path = arguments.out or arguments.inspect
    try:
        if arguments.out:
            told = f"{write_calls(cells, out)} calls written to {out}"
        else:
            told = f"{write_logs(cells, out)} logs written: inspect view start --log-dir {out}"
    except OSError as error:
        raise RecordFault(f"cannot write {out}: {error.strerror or error}") from error
    print(told)
    return 0
