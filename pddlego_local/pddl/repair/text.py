"""Slips of the text around and between the lists: fences, escapes, the first words, parentheses.

Regular expressions and not the reader: these are texts that it cannot read yet.
"""

import re

from pddlego_local.pddl.reader import balancing
from pddlego_local.pddl.repair.pair import Repair, Text

_FENCE = re.compile(r"^[ \t]*```[^\n()]*\n?", re.MULTILINE)
_ESCAPES = {"\\n": "\n", "\\t": " ", "\\r": " ", '\\"': '"'}
_ESCAPE = re.compile(r"\\[ntr\"]")
# Possessive: many blanks at the beginning would else be parted in every way among the `\s*`.
_BEGINNING = re.compile(
    r"\s*+(\(?\s*+define\b)?\s*+\(?\s*+:?(domain|problem)\s++([^\s()]+)(\s*+\))?", re.IGNORECASE
)


def without_fences(file: Text) -> Repair:
    """Markdown's ``` lines go."""
    repaired = file.with_text(_FENCE.sub("", file.text))
    return repaired, (f"{file.file}: removed the Markdown fences",) * (repaired != file)


def unescaped(file: Text) -> Repair:
    """`\\n` written as two characters becomes a line break."""
    repaired = file.with_text(_ESCAPE.sub(lambda match: _ESCAPES[match[0]], file.text))
    change = f"{file.file}: turned escapes such as `\\n` into the characters meant"
    return repaired, (change,) * (repaired != file)


def with_define(file: Text) -> Repair:
    """`(domain d …` and `define (domain d) …` begin with `(define (domain d) …`."""
    beginning = _BEGINNING.match(file.text)
    if beginning is None or beginning[2].lower() != file.file:
        return file, ()
    if re.match(r"\s*\(\s*define\b", file.text):
        return file, ()
    opening = f"(define ({file.file} {beginning[3]})"
    change = f"{file.file}: began it with `{opening}`"
    return file.with_text(opening + file.text[beginning.end() :]), (change,)


def balanced(file: Text) -> Repair:
    """Parentheses are set where the sections show that they are missing or too many."""
    if file.block is not None:
        return file, ()
    patches = balancing(file.text)
    repaired = file.patched(patches)
    if not patches or repaired.block is None:
        return file, ()
    added = sum(len(new) for _, _, new in patches)
    removed = sum(end - start for start, end, _ in patches)
    changes = [f"added {added} `)`"] * (added > 0) + [f"removed {removed} `)`"] * (removed > 0)
    return repaired, (f"{file.file}: {' and '.join(changes)}",)
