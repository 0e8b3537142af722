"""`pddlego report`: reports runs on the screen, in Markdown and CSV, and as pages."""

import argparse
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.commands.shared.options import path
from pddlego_local.commands.shared.screen import print_problems, screen, show
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import Apart
from pddlego_local.core.record.counting import SEEN, TRIVIAL, Also
from pddlego_local.core.visible import visible
from pddlego_local.report.cells import (
    Cells,
    find_cells,
    unrequested,
    without_transcript,
)
from pddlego_local.report.comparisons import Compared, compared
from pddlego_local.report.exports import Formulas, columns, write_csv
from pddlego_local.report.first_screen import (
    alone_markdown,
    comparisons_on_screen,
    ended_markdown,
    verdicts_markdown,
)
from pddlego_local.report.numbers import Numbers, report_numbers
from pddlego_local.report.pages.site import write_pages
from pddlego_local.report.papers import paper_results, papers_markdown
from pddlego_local.report.text import (
    missing_markdown,
    on_screen,
    report_markdown,
    unfinished,
)
from pddlego_local.report.verdicts import comparisons_markdown, history_in_words
from pddlego_local.runner.sweep import Episodes, read_sweeps


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


@dataclass(frozen=True)
class _Report:
    """The contents of a report. `unfinished` is its first paragraph, and `missing` the
    section on episodes without a result; both are "" if no result is missing. `papers`
    is the content of papers.md. `doubtful` are sentences about rows that nothing
    confirms.
    """

    cells: Cells
    also: Also
    numbers: Numbers
    comparisons: Compared
    papers: str
    unfinished: str
    missing: str
    doubtful: list[str]

    @property
    def problems(self) -> list[str]:
        return [*self.cells.problems, *self.doubtful]


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 0, or 1 if a record cannot be read or has rows that nothing confirms: the
    report is then written from the rest, or with these rows, and names them.
    """
    folder = _folder(arguments)
    also: list[Apart] = []
    if arguments.with_trivial:
        also += TRIVIAL
    if arguments.with_seen:
        also += SEEN
    report = _report(arguments.runs, also)
    _print(report)
    if folder:
        files = _write_tables(report, folder)
        if not arguments.without_pages:
            files.append(_write_pages(report, folder))
        print(f"written: {', '.join(map(str, files))}")
        if arguments.open:
            webbrowser.open((folder / "index.html").resolve().as_uri())
    return print_problems(report.problems)


def _folder(arguments: argparse.Namespace) -> Path | None:
    """The folder to write to; None if the report is only shown."""
    if arguments.out or not arguments.open:
        out: Path | None = arguments.out
        return out
    if len(arguments.runs) > 1:
        raise ConfigError(
            "--open with several runs: give the folder for the pages with --out"
        )
    run: Path = arguments.runs[0]
    return run


def write_report(run: Path) -> Path:
    """Writes the report of a run with its pages into the folder of the run, and returns
    the path of the first page.
    """
    report = _report([run], ())
    _write_tables(report, run)
    return _write_pages(report, run)


def _report(runs: Sequence[Path], also: Also) -> _Report:
    cells = find_cells(runs)
    planned = dict[Path, Episodes]()
    for run in runs:
        planned |= read_sweeps(run)
    doubtful = list[str]()
    for cell in cells:
        doubtful += [*unrequested(cell), *without_transcript(cell)]
    return _Report(
        cells=cells,
        also=also,
        numbers=report_numbers(cells, also=also),
        comparisons=compared(cells, also=also),
        papers=papers_markdown(paper_results(cells, also=also)),
        unfinished=unfinished(cells, planned),
        missing=missing_markdown(cells, planned),
        doubtful=doubtful,
    )


def _print(report: _Report) -> None:
    console = screen()
    if report.unfinished:
        console.print(report.unfinished, soft_wrap=True)
    show(console, on_screen(report.numbers))
    if report.comparisons.tested:
        show(console, comparisons_on_screen(report.comparisons))
        if history := history_in_words(report.comparisons):
            console.print(history, soft_wrap=True)


def _write_pages(report: _Report, folder: Path) -> Path:
    comparisons = comparisons_markdown(report.comparisons)
    return write_pages(
        report.cells,
        report.numbers,
        report.comparisons,
        "\n".join([comparisons, report.missing]),
        report.papers,
        folder,
        report.unfinished,
        also=report.also,
    )


def _write_tables(report: _Report, folder: Path) -> list[Path]:
    """Writes each file that has content, and deletes old files that have none now."""
    folder.mkdir(parents=True, exist_ok=True)
    return [*_write_texts(report, folder), *_write_csv(report, folder)]


def _write_texts(report: _Report, folder: Path) -> Iterator[Path]:
    parts = [
        verdicts_markdown(report.comparisons),
        ended_markdown(report.numbers),
        alone_markdown(report.comparisons),
        report_markdown(report.numbers),
        comparisons_markdown(report.comparisons),
        report.missing,
        _problems_markdown(report.problems),
    ]
    texts = {"report.md": "\n".join(parts), "papers.md": report.papers}
    above = f"**{report.unfinished}**\n\n" if report.unfinished else ""
    for name, text in texts.items():
        file = folder / name
        if text:
            file.write_text(f"{above}{text.strip()}\n", encoding="utf-8")
            yield file
        else:
            file.unlink(missing_ok=True)


def _write_csv(report: _Report, folder: Path) -> Iterator[Path]:
    tables: dict[str, Sequence[Any]] = {
        "report.csv": report.numbers.cells,
        "tasks.csv": report.numbers.tasks,
        "trials.csv": report.numbers.trials,
        "comparisons.csv": [*report.comparisons.tested, *report.comparisons.others],
    }
    formulas = Formulas()
    for name, numbers in tables.items():
        file = folder / name
        if numbers:
            rows = [columns(row) for row in numbers]
            write_csv(file, formulas.checked(rows), rows[0])
            yield file
        else:
            file.unlink(missing_ok=True)
    if formulas.found:
        print(f"pddlego: in the .csv files, {formulas.warning}", file=sys.stderr)


def _problems_markdown(problems: Sequence[str]) -> str:
    if not problems:
        return ""
    lines = ["\n## Problems of the records\n"]
    for problem in problems:
        shown = visible(problem).replace("`", "'")
        lines.append(f"- `{shown}`")
    return "\n".join([*lines, ""])
