"""What changed from one PDDL file to the next, line by line."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pddlego_local.decoding.layout import Printer

MOST_LINES = 1000  # of two files that are compared, which takes time as their product grows


@dataclass(frozen=True)
class Line:
    """One line of a file; `change` is "" where both files have it."""

    change: Literal["", "new", "gone"]
    text: str


@lru_cache(maxsize=64)  # a domain that does not change is read once an episode
def readable_file(text: str) -> str:
    """A PDDL file in the layout `lines`, with the parentheses that end a section on a line of their
    own; what is no PDDL, as it was written."""
    try:
        printed = Printer("lines").file(text)
    except (ValueError, RecursionError):
        return text
    lines: list[str] = []
    for line in printed.split("\n"):
        closing = ")" * (line.count(")") - line.count("("))
        lines += [line.removesuffix(closing), closing] if closing else [line]
    return "\n".join(lines)


def difference(before: str, after: str) -> list[Line]:
    """The lines of both texts in order; the first ones of `after` alone where they are too many to
    compare, or where there was nothing before."""
    old, new = before.split("\n"), after.split("\n")
    if not before or len(old) + len(new) > MOST_LINES:
        left = len(new) - MOST_LINES
        more = [f"… ({left} lines more: see the transcript)"] if left > 0 else []
        return _marked("", [*new[:MOST_LINES], *more])
    lines: list[Line] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += _marked("", new[c:d])
        else:
            lines += [*_marked("gone", old[a:b]), *_marked("new", new[c:d])]
    return lines


def _marked(change: Literal["", "new", "gone"], texts: Sequence[str]) -> list[Line]:
    return [Line(change, text) for text in texts]
