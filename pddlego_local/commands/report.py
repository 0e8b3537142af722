"""`pddlego report`: reports runs on the screen, in Markdown and CSV, and as pages."""

import argparse
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pddlego_local.commands.shared.options import path
from pddlego_local.commands.shared.screen import print_problems, screen, show
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import Apart
from pddlego_local.core.record.counting import SEEN, TRIVIAL
from pddlego_local.core.visible import visible
from pddlego_local.report.cells import find_cells, unrequested, without_transcript
from pddlego_local.report.comparisons import Compared, compared
from pddlego_local.report.exports import Formulas, columns, write_csv
from pddlego_local.report.numbers import Numbers, report_numbers
from pddlego_local.report.pages.site import write_pages
from pddlego_local.report.papers import paper_results, papers_markdown
from pddlego_local.report.text import (
    missing_markdown,
    on_screen,
    report_markdown,
    unfinished,
)
from pddlego_local.report.verdicts import (
    comparisons_markdown,
    comparisons_on_screen,
    history_in_words,
    verdicts_markdown,
)
from pddlego_local.runner.sweep import read_sweeps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    written = (
        "open the pages in a browser; without --out they are written into the run's"
        " folder"
    )
    tables = "write only the tables: the pages of 1,000 episodes take 25 to 45 MB"
    trivial = "score games that are solved at reset, as the papers' tables do"
    seen = "score games on maps of the model's training, such as ALFWorld's valid_seen"
    add("runs", nargs="+", type=path, help="folders below runs/")
    add("--out", type=path, help="folder for report.md, .csv and pages")
    pages = parser.add_mutually_exclusive_group()
    pages.add_argument("--open", action="store_true", help=written)
    pages.add_argument("--without-pages", action="store_true", help=tables)
    add("--with-trivial", action="store_true", help=trivial)
    add("--with-seen", action="store_true", help=seen)


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 0, or 1 if a record cannot be read or has rows that nothing confirms: the
    report is then written from the rest, or with these rows, and names them.
    """
    folder: Path | None = arguments.out
    if arguments.open and not folder:
        if len(arguments.runs) > 1:
            raise ConfigError(
                "--open with several runs: give the folder for the pages with --out"
            )
        folder = arguments.runs[0]
    cells = find_cells(arguments.runs)
    doubtful = [
        line
        for cell in cells
        for line in (*unrequested(cell), *without_transcript(cell))
    ]
    also: list[Apart] = []
    if arguments.with_trivial:
        also += TRIVIAL
    if arguments.with_seen:
        also += SEEN
    numbers = report_numbers(cells, also=also)
    found = compared(cells, also=also)
    console = screen()
    planned = {
        cell: one for run in arguments.runs for cell, one in read_sweeps(run).items()
    }
    missing = missing_markdown(cells, planned)
    if first := unfinished(cells, planned):
        console.print(first, soft_wrap=True)
    show(console, on_screen(numbers))
    if found.tested:
        show(console, comparisons_on_screen(found))
        if history := history_in_words(found):
            console.print(history, soft_wrap=True)
    if folder:
        papers = papers_markdown(paper_results(cells, also=also))
        problems = [*cells.problems, *doubtful]
        files = _write(numbers, found, papers, folder, problems, first, missing)
        if not arguments.without_pages:
            tables = "\n".join([comparisons_markdown(found), papers, missing])
            files.append(
                write_pages(cells, numbers, found, tables, folder, first, also=also)
            )
        print(f"written: {', '.join(map(str, files))}")
    if arguments.open and folder:
        webbrowser.open((folder / "index.html").resolve().as_uri())
    return print_problems([*cells.problems, *doubtful])


def _problems_markdown(problems: Sequence[str]) -> str:
    lines = "\n".join(
        f"- `{visible(problem).replace('`', chr(39))}`" for problem in problems
    )
    return f"\n## Problems of the records\n\n{lines}\n" if problems else ""


def _write(
    numbers: Numbers,
    found: Compared,
    papers: str,
    folder: Path,
    problems: Sequence[str],
    first: str,
    missing: str,
) -> list[Path]:
    """Writes each file that has content, and deletes old files that have none now. In
    Markdown, `first` is the first paragraph, and `missing` the section on episodes
    without a result.
    """
    parts = [
        verdicts_markdown(found),
        report_markdown(numbers),
        comparisons_markdown(found),
    ]
    texts = {
        "report.md": "\n".join([*parts, missing, _problems_markdown(problems)]),
        "papers.md": papers,
    }
    above = f"**{first}**\n\n" if first else ""
    tables: dict[str, Sequence[Any]] = {
        "report.csv": numbers.cells,
        "tasks.csv": numbers.tasks,
        "trials.csv": numbers.trials,
        "comparisons.csv": [*found.tested, *found.others],
    }
    folder.mkdir(parents=True, exist_ok=True)
    formulas, written = Formulas(), []
    for name, content in {**texts, **tables}.items():
        if not content:
            (folder / name).unlink(missing_ok=True)
            continue
        if isinstance(content, str):
            (folder / name).write_text(f"{above}{content.strip()}\n", encoding="utf-8")
        else:
            rows = [columns(row) for row in content]
            write_csv(folder / name, formulas.checked(rows), rows[0])
        written.append(folder / name)
    if formulas.found:
        print(f"pddlego: in the .csv files, {formulas.warning}", file=sys.stderr)
    return written
