"""`pddlego export`: every model call or episode as a line of one table."""

import argparse
from pathlib import Path

from pddlego_local.commands.shared.problems import print_problems
from pddlego_local.core.errors import RecordFault
from pddlego_local.report.cells import find_cells
from pddlego_local.report.exports import CALL_COLUMNS, EPISODE_COLUMNS, call_rows, episode_rows
from pddlego_local.report.table_file import check_name, write_table

HELP = "all model calls or episodes as one table (CSV, Parquet)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, help="folders below runs/")
    parser.add_argument("--out", type=Path, required=True, help="the .csv or .parquet to write")
    parser.add_argument("--episodes", action="store_true", help="a line for each episode instead")


def carry_out(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out
    check_name(out)
    cells = find_cells(arguments.runs)
    try:
        if arguments.episodes:
            written = f"{write_table(out, EPISODE_COLUMNS, episode_rows(cells))} episodes"
        else:
            written = f"{write_table(out, CALL_COLUMNS, call_rows(cells))} calls"
    except OSError as error:
        raise RecordFault(f"cannot write {out}: {error.strerror or error}") from error
    print(f"{written} written to {out}")
    return print_problems(cells.problems)
