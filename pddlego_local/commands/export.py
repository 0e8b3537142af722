"""`pddlego export`: writes every model call or episode as one line of a table."""

import argparse
import sys
from pathlib import Path

from pddlego_local.commands.shared.options import as_error, path
from pddlego_local.commands.shared.screen import print_problems
from pddlego_local.core.errors import ConfigError, RecordFault
from pddlego_local.core.record.folder import transcript_of
from pddlego_local.report import exports
from pddlego_local.report.cells import Cells, find_cells


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", nargs="+", type=path, help="folders below runs/")
    add("--out", type=path, required=True, help="the .csv to write")
    add("--episodes", action="store_true", help="write a line for each episode instead")
    mark = (
        "put an apostrophe before texts that a spreadsheet would carry out as formulas"
    )
    add("--spreadsheet", action="store_true", help=mark)


def carry_out(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out
    if out.suffix not in ("", ".csv"):
        raise ConfigError(
            f"--out {out}: give it a name that ends in .csv; pandas writes other"
            " formats from what pddlego_local.load(RUN) returns"
        )
    cells = find_cells(arguments.runs)
    lines = "episodes" if arguments.episodes else "calls"
    rows, names = exports.TABLES[lines]
    formulas = exports.Formulas(mark=arguments.spreadsheet)
    with as_error(RecordFault, f"cannot write {out}"):
        written = exports.write_csv(out, formulas.checked(rows(cells)), names)
    print(f"{written} {lines} written to {out}")
    if formulas.found:
        print(_about(formulas), file=sys.stderr)
    lost = 0 if arguments.episodes else _without_calls(cells)
    if lost:
        print(
            f"pddlego: {lost} episodes have no transcript, so no calls here",
            file=sys.stderr,
        )
    return print_problems(cells.problems)


def _without_calls(cells: Cells) -> int:
    """The number of episodes without a transcript."""
    lost = 0
    for cell in cells:
        for row in cell.rows:
            lost += not transcript_of(cell.folder, row.game, row.trial).exists()
    return lost


def _about(formulas: exports.Formulas) -> str:
    if formulas.mark:
        return (
            f"pddlego: {formulas.found} texts that begin like formulas have an"
            " apostrophe now"
        )
    return f"pddlego: {formulas.warning}, or export with --spreadsheet"
