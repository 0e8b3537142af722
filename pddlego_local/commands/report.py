"""`pddlego report`: reports runs on the screen, in Markdown and CSV, and as pages."""

import argparse
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pddlego_local.commands.shared.options import path
from pddlego_local.commands.shared.screen import print_problems, screen, show
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.counting import SEEN, TRIVIAL
from pddlego_local.core.visible import visible
from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import Compared, compared
from pddlego_local.report.exports import columns, write_csv
from pddlego_local.report.numbers import Numbers, report_numbers
from pddlego_local.report.pages.site import write_pages
from pddlego_local.report.papers import Result, paper_results, papers_markdown
from pddlego_local.report.text import on_screen, report_markdown, unfinished
from pddlego_local.report.verdicts import (
    comparisons_markdown,
    comparisons_on_screen,
    history_in_words,
    verdicts_markdown,
)
from pddlego_local.runner.sweep import read_sweeps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    written = "open the pages in a browser; without --out they are written into the run's folder"
    tables = "write only the tables: the pages of 1,000 episodes take 25 to 45 MB"
    trivial = "score games that are solved at reset, as the papers' tables do"
    seen = "score games on maps of the model's training, such as ALFWorld's valid_seen"
    older = "other records: say which compared games the same weights played in them"
    add("runs", nargs="+", type=path, help="folders below runs/")
    add("--earlier", type=path, nargs="+", default=[], metavar="RUN", help=older)
    add("--out", type=path, help="folder for report.md, .csv and pages")
    pages = parser.add_mutually_exclusive_group()
    pages.add_argument("--open", action="store_true", help=written)
    pages.add_argument("--without-pages", action="store_true", help=tables)
    add("--with-trivial", action="store_true", help=trivial)
    add("--with-seen", action="store_true", help=seen)


def carry_out(arguments: argparse.Namespace) -> int:
    folder: Path | None = arguments.out
    if arguments.open and not folder:
        if len(arguments.runs) > 1:
            raise ConfigError("--open with several runs: give the folder for the pages with --out")
        folder = arguments.runs[0]
    cells = find_cells(arguments.runs)
    also = TRIVIAL * arguments.with_trivial + SEEN * arguments.with_seen
    numbers = report_numbers(cells, also=also)
    found = compared(cells, also=also, earlier=find_cells(arguments.earlier))
    console = screen()
    planned = {cell: n for run in arguments.runs for cell, n in read_sweeps(run).items()}
    if first := unfinished(cells, planned):
        console.print(first, soft_wrap=True)
    show(console, on_screen(numbers))
    if found.tested:
        show(console, comparisons_on_screen(found))
        if history := history_in_words(found):
            console.print(history, soft_wrap=True, markup=False)
    if folder:
        papers = paper_results(cells)
        files = _write(numbers, found, papers, folder, cells.problems, first)
        if not arguments.without_pages:
            tables = f"{comparisons_markdown(found)}\n{papers_markdown(papers)}"
            files.append(write_pages(cells, numbers, found, tables, folder, first, also=also))
        print(f"written: {', '.join(map(str, files))}")
    if arguments.open and folder:
        webbrowser.open((folder / "index.html").resolve().as_uri())
    return print_problems(cells.problems)


def _problems_markdown(problems: Sequence[str]) -> str:
    lines = "\n".join(f"- `{visible(problem).replace('`', chr(39))}`" for problem in problems)
    return f"\n## Problems of the records\n\n{lines}\n" if problems else ""


def _write(
    numbers: Numbers,
    found: Compared,
    papers: Sequence[Result],
    folder: Path,
    problems: Sequence[str],
    first: str,
) -> list[Path]:
    """Writes each file that has content, and deletes old files that have none now. In Markdown,
    `first` is the first paragraph."""
    parts = [verdicts_markdown(found), report_markdown(numbers), comparisons_markdown(found)]
    texts = {
        "report.md": "\n".join([*parts, _problems_markdown(problems)]),
        "papers.md": papers_markdown(papers),
    }
    above = f"**{first}**\n\n" if first else ""
    tables: dict[str, Sequence[Any]] = {
        "report.csv": numbers.cells,
        "tasks.csv": numbers.tasks,
        "trials.csv": numbers.trials,
        "comparisons.csv": [*found.tested, *found.others],
        "papers.csv": papers,
    }
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in {**texts, **tables}.items():
        if not content:
            (folder / name).unlink(missing_ok=True)
            continue
        if isinstance(content, str):
            (folder / name).write_text(f"{above}{content.strip()}\n", encoding="utf-8")
        else:
            rows = [columns(row) for row in content]
            write_csv(folder / name, rows, rows[0])
        written.append(folder / name)
    return written
