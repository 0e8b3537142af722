"""`pddlego export`: every model call or episode as a line of one table."""

import argparse
from pathlib import Path

from pddlego_local.commands.shared.options import told_as
from pddlego_local.commands.shared.screen import print_problems
from pddlego_local.core.errors import ConfigError, RecordFault
from pddlego_local.report.cells import find_cells
from pddlego_local.report.exports import CALL_COLUMNS, EPISODE_COLUMNS, call_rows, episode_rows
from pddlego_local.report.table_file import write_csv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", nargs="+", type=Path, help="folders below runs/")
    add("--out", type=Path, required=True, help="the .csv to write")
    add("--episodes", action="store_true", help="a line for each episode instead")


def carry_out(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out
    if out.suffix not in ("", ".csv"):
        raise ConfigError(
            f"--out {out}: give it a name that ends in .csv; of other formats pandas writes what "
            "pddlego_local.load(RUN) returns"
        )
    cells = find_cells(arguments.runs)
    with told_as(RecordFault, f"cannot write {out}"):
        if arguments.episodes:
            written = f"{write_csv(out, episode_rows(cells), EPISODE_COLUMNS)} episodes"
        else:
            written = f"{write_csv(out, call_rows(cells), CALL_COLUMNS)} calls"
    print(f"{written} written to {out}")
    return print_problems(cells.problems)
