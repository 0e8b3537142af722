"""Tables for a paper: a `tabular` in the style of the package booktabs, to be read with \\input."""

from collections.abc import Mapping, Sequence

from pddlego_local.report.numbers import Numbers
from pddlego_local.report.text import ON_SCREEN, TOLD_APART, cell_text

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\to$",
    "–": "--",
    "×": r"$\times$",
    "±": r"$\pm$",
    "<": "$<$",
    ">": "$>$",
    "“": "``",
    "”": "''",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def booktabs(table: Sequence[Mapping[str, str]], title: str = "") -> str:
    """Rows of equal keys; the title is a comment. "" for no rows."""
    if not table:
        return ""
    columns = list(table[0])
    head = [f"% {title}"] * bool(title) + [f"\\begin{{tabular}}{{{'l' * len(columns)}}}"]
    body = [_line([row[column] for column in columns]) for row in table]
    lines = [*head, r"\toprule", _line(columns), r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}", ""])


def report_latex(numbers: Numbers) -> str:
    """The cells, with the columns that the terminal shows too."""
    columns = [*TOLD_APART, "finished", *ON_SCREEN]
    rows = [cell_text(cell) for cell in numbers.cells]
    return booktabs([{column: row[column] for column in columns} for row in rows], "Cells")


def escaped(text: str) -> str:
    """As LaTeX prints it, in one line."""
    return "".join(SPECIAL.get(character, character) for character in " ".join(text.split()))


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"
