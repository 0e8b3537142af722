"""`pddlego report`: the table of one or more runs, on the screen and as Markdown and CSV."""

import argparse
import csv
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pddlego_local.report import LABELS, after_trials, find_cells, markdown, tables

HELP = "tables of one or more runs, with n and intervals"
ON_SCREEN = ("success", "steps", "calls", "answers", "wall s")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", type=Path, help="folders below runs/")
    parser.add_argument("--out", type=Path, help="folder for report.md and report.csv")
    parser.add_argument(
        "--with-trivial", action="store_true", help="count games that are over at the first look"
    )


def carry_out(given: argparse.Namespace) -> int:
    cells = find_cells(given.runs)
    table, by_group = tables(cells, with_trivial=given.with_trivial)
    Console().print(on_screen(table))
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        text = f"# Results\n\n{markdown(table)}\n## By kind of task\n\n{markdown(by_group)}"
        if trials := after_trials(cells):
            text += f"\n## After each trial\n\n{markdown(trials)}"
        (given.out / "report.md").write_text(text)
        with (given.out / "report.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]))
            writer.writeheader()
            writer.writerows(table)
        print(f"written: {given.out / 'report.md'} and {given.out / 'report.csv'}")
    return 0


def on_screen(table: list[dict[str, str]]) -> Table:
    """The columns that fit a terminal; a column of labels only where it tells cells apart."""
    told_apart = [c for c in (*LABELS, "settings", "budget") if len({row[c] for row in table}) > 1]
    left = ["no result"] if any(row["no result"] != "0" for row in table) else []
    columns = [*(told_apart or ["model"]), *left, *ON_SCREEN]
    screen = Table(caption="success: 95 % Wilson interval; games over at the first look left out")
    for column in columns:
        screen.add_column(column)
    for row in table:
        screen.add_row(*(row[column] for column in columns))
    return screen
