"""Slips of the text around and between the lists: fences, escapes, the first words, parentheses.

Regular expressions and not the reader: these are texts that it cannot read yet.
"""

import re

from pddlego_local.pddl.faults import File
from pddlego_local.pddl.reader import balancing
from pddlego_local.pddl.repair.pair import Mended, block_of, patched

_FENCE = re.compile(r"^[ \t]*```[^\n()]*\n?", re.MULTILINE)
_ESCAPES = {"\\n": "\n", "\\t": " ", "\\r": " ", '\\"': '"'}
_ESCAPE = re.compile(r"\\[ntr\"]")
# Possessive: many blanks at the beginning would else be parted in every way among the `\s*`.
_BEGINNING = re.compile(
    r"\s*+(\(?\s*+define\b)?\s*+\(?\s*+:?(domain|problem)\s++([^\s()]+)(\s*+\))?", re.IGNORECASE
)


def without_fences(text: str, file: File) -> Mended:
    """Markdown's ``` lines go."""
    mended = _FENCE.sub("", text)
    if mended == text:
        return Mended(text)
    return Mended(mended, (f"{file}: removed the Markdown fences",))


def unescaped(text: str, file: File) -> Mended:
    """`\\n` written as two characters becomes a line break."""
    mended = _ESCAPE.sub(lambda match: _ESCAPES[match[0]], text)
    if mended == text:
        return Mended(text)
    return Mended(mended, (f"{file}: turned escapes such as `\\n` into the characters meant",))


def with_define(text: str, file: File) -> Mended:
    """`(domain d …` and `define (domain d) …` begin with `(define (domain d) …`."""
    beginning = _BEGINNING.match(text)
    if beginning is None or beginning[2].lower() != file or re.match(r"\s*\(\s*define\b", text):
        return Mended(text)
    mended = f"(define ({file} {beginning[3]})" + text[beginning.end() :]
    return Mended(mended, (f"{file}: began it with `(define ({file} {beginning[3]})`",))


def balanced(text: str, file: File) -> Mended:
    """Parentheses are set where the sections show that they are missing or too many."""
    if block_of(text) is not None:
        return Mended(text)
    patches = balancing(text)
    mended = patched(text, patches)
    if not patches or block_of(mended) is None:
        return Mended(text)
    added = sum(len(new) for _, _, new in patches)
    removed = sum(end - start for start, end, _ in patches)
    changes = [f"added {added} `)`"] * (added > 0) + [f"removed {removed} `)`"] * (removed > 0)
    return Mended(mended, (f"{file}: {' and '.join(changes)}",))
