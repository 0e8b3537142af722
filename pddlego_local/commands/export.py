"""`pddlego export`: every model call or episode as a line of a table, or every cell as a log of
inspect_ai."""

import argparse
from pathlib import Path

from pddlego_local.commands.shared.problems import tell
from pddlego_local.core.errors import ConfigError, RecordFault
from pddlego_local.report.calls import CALL_COLUMNS, EPISODE_COLUMNS, call_rows, episode_rows
from pddlego_local.report.cells import find_cells
from pddlego_local.report.inspect_log import write_logs
from pddlego_local.report.table_file import check_name, write_table

HELP = "all model calls or episodes as one table (CSV, Parquet), or logs for `inspect view`"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, help="folders below runs/")
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--out", type=Path, help="the .csv or .parquet to write, a line for each call")
    to.add_argument("--inspect", type=Path, metavar="FOLDER", help="a log for each cell, in FOLDER")
    parser.add_argument("--episodes", action="store_true", help="a line for each episode instead")


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.inspect and arguments.episodes:
        raise ConfigError("--episodes says what the lines of --out are; --inspect has both")
    if arguments.out:
        check_name(arguments.out)
    cells = find_cells(arguments.runs)
    out: Path = arguments.out or arguments.inspect
    try:
        if arguments.inspect:
            told = f"{write_logs(cells, out)} logs written: inspect view start --log-dir {out}"
        elif arguments.episodes:
            count = write_table(out, EPISODE_COLUMNS, episode_rows(cells))
            told = f"{count} episodes written to {out}"
        else:
            told = f"{write_table(out, CALL_COLUMNS, call_rows(cells))} calls written to {out}"
    except OSError as error:
        raise RecordFault(f"cannot write {out}: {error.strerror or error}") from error
    print(told)
    return tell(cells.problems)
