"""Consoles of rich on which every text is literal. Texts of models, games and files
have brackets and colons that rich would read as its markup (`[bold]`) or as the name of
an emoji (`:door:`).
"""

from rich.console import Console
from rich.text import Text


def literal_console(
    *,
    stderr: bool = False,
    soft_wrap: bool = False,
    width: int | None = None,
    quiet: bool = False,
) -> Console:
    """Returns a console that prints each text as it is. Styles are given by `styled` or
    `Text`.
    """
    return Console(
        stderr=stderr, soft_wrap=soft_wrap, width=width, quiet=quiet,
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip


def styled(label: str, style: str, text: str) -> Text:
    """Returns a label in a style and the text behind it."""
    return Text.assemble((label, style), text)
