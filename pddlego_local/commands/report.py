"""`pddlego report`: the table of one or more runs, on the screen and as Markdown and CSV."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from pddlego_local.report.cells import find_cells
from pddlego_local.report.files import write_csv
from pddlego_local.report.numbers import Numbers, report_numbers
from pddlego_local.report.text import on_screen, report_markdown

HELP = "tables of one or more runs, with n and intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, help="folders below runs/")
    parser.add_argument("--out", type=Path, help="folder for report.md and report.csv")
    parser.add_argument(
        "--with-trivial",
        action="store_true",
        help="count games that are solved at reset, as the papers' tables do",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    numbers = report_numbers(find_cells(arguments.runs), with_trivial=arguments.with_trivial)
    Console().print(on_screen(numbers))
    if arguments.out:
        files = _write(numbers, arguments.out)
        print(f"written: {', '.join(map(str, files))}")
    return 0


def _write(numbers: Numbers, folder: Path) -> list[Path]:
    """report.md, report.csv, and tasks.csv and trials.csv where there is something to say."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(report_markdown(numbers), encoding="utf-8")
    tables: dict[str, Sequence[Any]]
    tables = {"report.csv": numbers.cells, "tasks.csv": numbers.tasks, "trials.csv": numbers.trials}
    written = [folder / "report.md"]
    for name, rows in tables.items():
        if rows:
            write_csv(folder / name, rows)
            written.append(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    return written
