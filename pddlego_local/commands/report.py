"""`pddlego report`: the table of one or more runs, on the screen, in Markdown, CSV and LaTeX."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from pddlego_local.errors import ConfigError
from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparison_tables import (
    comparisons_latex,
    comparisons_markdown,
    comparisons_on_screen,
)
from pddlego_local.report.comparisons import Comparison, comparisons, transitions
from pddlego_local.report.files import write_csv
from pddlego_local.report.latex import report_latex
from pddlego_local.report.numbers import Numbers, report_numbers
from pddlego_local.report.pairs import factors_of
from pddlego_local.report.text import on_screen, report_markdown

HELP = "tables of one or more runs, with n and intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, help="folders below runs/")
    parser.add_argument("--out", type=Path, help="folder for report.md, and for .csv and .tex")
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="OPTION",
        help="only cells that differ in this option, such as decoding.rung, or only those that one "
        "value is compared with, decoding.rung=free; Holm's adjustment is over these alone",
    )
    parser.add_argument(
        "--with-trivial",
        action="store_true",
        help="count games that are solved at reset, as the papers' tables do",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    cells = find_cells(arguments.runs)
    with_trivial = arguments.with_trivial
    numbers = report_numbers(cells, with_trivial=with_trivial)
    factors = factors_of(cells)
    if unknown := sorted(set(arguments.compare) - set(factors)):
        raise ConfigError(
            f"--compare {unknown[0]}: no two cells differ in this alone; choose one of "
            f"{', '.join(factors) or 'none: no two cells differ in one thing'}"
        )
    found = comparisons(cells, arguments.compare, with_trivial=with_trivial)
    console = Console()
    console.print(on_screen(numbers))
    if found:
        console.print(comparisons_on_screen(found))
    if arguments.out:
        files = _write(numbers, found, arguments.out)
        print(f"written: {', '.join(map(str, files))}")
    return 0


def _write(numbers: Numbers, found: Sequence[Comparison], folder: Path) -> list[Path]:
    """report.md and report.csv; the other files where there is something to say."""
    texts = {
        "report.md": f"{report_markdown(numbers)}\n{comparisons_markdown(found)}",
        "report.tex": "\n".join([report_latex(numbers), comparisons_latex(found)]),
    }
    tables: dict[str, Sequence[Any]] = {
        "report.csv": numbers.cells,
        "tasks.csv": numbers.tasks,
        "trials.csv": numbers.trials,
        "comparisons.csv": found,
        "transitions.csv": transitions(found),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text.strip() + "\n", encoding="utf-8")
    for name, rows in tables.items():
        if rows:
            write_csv(folder / name, rows)
        else:
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name in [*texts, *(name for name, rows in tables.items() if rows)]]
