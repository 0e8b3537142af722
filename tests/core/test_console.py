"""No text that the project prints with rich is read as markup or as the name of an
emoji.
"""

import io
import re
from pathlib import Path

from rich.table import Table

import pddlego_local
from pddlego_local.commands.shared.screen import show
from pddlego_local.core.console import literal_console, styled

TEXT = ":door: [bold]b[/bold] [/] \\[dim] a\\"
PACKAGE = Path(pddlego_local.__file__).parent


def test_texts_titles_and_cells_of_tables_are_literal() -> None:
    console = literal_console(width=200)
    console.file = io.StringIO()
    table = Table(TEXT, "b", title=TEXT, caption=TEXT)
    table.add_row(TEXT, "x")
    show(console, table)
    console.print(TEXT)
    console.rule(TEXT)
    console.print(styled(TEXT, "bold red", f" {TEXT}"))
    assert console.file.getvalue().count(TEXT) == 8


def test_every_console_of_the_package_is_literal() -> None:
    made = re.compile(
        r"(?<![\w.])Console\(|from_markup|markup=True|rich\.markup|print as rich"
    )
    files = [
        file for file in PACKAGE.rglob("*.py") if made.search(file.read_text("utf-8"))
    ]
    assert sorted(file.relative_to(PACKAGE).as_posix() for file in files) == [
        "commands/show.py",  # a template with styles; its values are literal
        "core/console.py",
    ]
