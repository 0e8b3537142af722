"""The main table for a paper: a `tabular` of the package booktabs, to be read with \\input."""

from collections.abc import Sequence

from pddlego_local.report.numbers import Numbers
from pddlego_local.report.text import LABEL_COLUMNS, ON_SCREEN, cell_text

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


def report_latex(numbers: Numbers) -> str:
    """The cells, with the columns that the terminal shows too; "" of none."""
    if not numbers.cells:
        return ""
    columns = [*LABEL_COLUMNS, "finished", *ON_SCREEN]
    rows = [cell_text(cell) for cell in numbers.cells]
    body = [_line([row[column] for column in columns]) for row in rows]
    head = [f"\\begin{{tabular}}{{{'l' * len(columns)}}}", r"\toprule", _line(columns)]
    return "\n".join([*head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", ""])


def escaped(text: str) -> str:
    """As LaTeX prints it, in one line."""
    return "".join(SPECIAL.get(character, character) for character in " ".join(text.split()))


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"
