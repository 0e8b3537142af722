"""PDDL files in an answer, however they are set off: fences, tags, headings, quotes, or nothing.

A file begins at `(define (domain` or `(define (problem`, with the comments above it, and ends where
its brackets close, or at a fence, a tag, a heading or the next file. What is wrong inside it stays:
a bracket too few or too many is the model's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from pddlego_local.episode.reading.objects import unescaped

Kind = Literal["df", "pf"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_BORDER = re.compile(
    r"^[ \t]*(?P<opens>`{3,}|~{3,})[ \t]*[\w+.-]+[^\n`]*\n"  # a fence that names a language
    r"|(?P<fence>(?:^[ \t]*)?(?:`{3,}|~{3,})[ \t]*(?:\r?\n)?)"
    r"|<(?P<tag>/?)[A-Za-z][\w.-]*>"
    r"|(?P<quotes>\"\"\"|''')"
    r"|(?P<heading>^[ \t]*(?:#|\*\*|==|---)[^\n]*$)",
    re.MULTILINE,
)
_DEFINE = re.compile(r"(?:\(\s*)?\bdefine\s*\(\s*(domain|problem)\b", re.IGNORECASE)
_NAME = re.compile(r"\(\s*(domain|problem)\s", re.IGNORECASE)
_COMMENT = r";(?:(?!\\n)[^\n])*+"  # in a string a line ends with an escape
_ABOVE = re.compile(  # a line of comment and what is comment or blank below it
    r"(?:^[^\S\n]*;[^\n]*\n(?:[^\S\n]*(?:;[^\n]*)?\n)*+)?^[^\S\n]*\Z", re.MULTILINE
)
_BRACKET = re.compile(rf"{_COMMENT}|[()]")
_GOES_ON = re.compile(rf"(?:\s|\\n|{_COMMENT})*+(?:\)|(?=\(\s*:))")
_PIECES = re.compile(r"([\"'])\s*(?:\+\s*)?\n\s*\1")  # of a string that is put together
_NO_PDDL = re.compile(r"[\"{}\]`]")
_MAX_FILES = 200
_MAX_COMMENT = 5000


@dataclass(frozen=True)
class File:
    """A file's text and place. `closed`: its brackets close, or something after it ends it."""

    kind: Kind
    text: str
    start: int
    end: int
    closed: bool


def files(text: str) -> list[File]:
    """From left to right, the last 200."""
    found = [file for start, end, held in _zones(text) for file in _files(text, start, end, held)]
    return found[-_MAX_FILES:]


def _zones(text: str) -> Iterator[tuple[int, int, bool]]:
    """What stands between two borders, and whether it is a pair of them that encloses it."""
    start, opened = 0, ""
    for border in _BORDER.finditer(text):
        kind = border.lastgroup or ""
        opens = kind == "opens" or (kind == "tag" and not border["tag"])
        enclosure = {"opens": "fence", "heading": ""}.get(kind, kind)
        held = opened != "" and opened == enclosure and not opens
        yield start, border.start(), held
        opened = enclosure if opens or (not held and kind != "tag") else ""
        start = border.end()
    yield start, len(text), False


def _files(text: str, begin: int, border: int, held: bool) -> Iterator[File]:
    heads = _heads(text, begin, border, held)
    begins = [
        _with_comments(text, head.start(), before)
        for head, before in zip(heads, [begin, *(head.end() for head in heads)], strict=False)
    ]
    for head, start, end in zip(heads, begins, [*begins[1:], border], strict=False):
        stop, balanced = _extent(text, head.start(), end)
        if held and not _NO_PDDL.search(text, stop, end):
            stop = end
        kind: Kind = "df" if head[1].lower() == "domain" else "pf"
        closed = balanced or end < len(text)
        if held or not closed or "(:" in text[start:stop]:  # else it is a phrase
            yield File(kind, _as_written(text[start:stop]), start, stop, closed)


def _heads(text: str, begin: int, border: int, held: bool) -> list[re.Match[str]]:
    """Where files begin; none in a comment. Between borders of its own `define` may be missing."""
    for head in (_DEFINE, _NAME) if held else (_DEFINE,):
        found = list(head.finditer(text, begin, border))[-_MAX_FILES:]
        if found := [match for match in found if not _in_comment(text, match.start(1))]:
            return found
    return []


def _in_comment(text: str, at: int) -> bool:
    begin = max(0, at - _MAX_COMMENT)
    line = max(begin, text.rfind("\n", begin, at), text.rfind("\\n", begin, at))
    return ";" in text[line:at]


def _with_comments(text: str, at: int, before: int) -> int:
    """Where the comments above a file begin."""
    before = max(before, at - _MAX_COMMENT)
    above = _ABOVE.search(text[before:at])
    return before + above.start() if above else at


def _extent(text: str, at: int, end: int) -> tuple[int, bool]:
    """Where a file's brackets close, with the brackets and sections that go on after that, and
    whether they do; else where the last of them stands."""
    stop, depth = at, 0
    for found in _BRACKET.finditer(text, at, end):
        if found[0][0] == ";":
            continue
        depth += 1 if found[0] == "(" else -1
        stop = found.end()
        if depth <= 0 and not _GOES_ON.match(text, stop, end):
            return stop, True
    return stop, False


def _as_written(text: str) -> str:
    """Without the escapes of a string that it stood in."""
    if "\\n" not in text:
        return text
    joined = _PIECES.sub("", text)
    return text if "\n" in joined.strip() else unescaped(joined)
