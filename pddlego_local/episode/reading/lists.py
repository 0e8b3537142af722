"""Reads a list of goals that is not written as JSON: lines with numbers or marks, or
one line.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.episode.reading.commands import is_step

_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[#]{1,6}[ \t]+)?"
    r"(?:[*_(]*(?:(?:step|goal|sub-?goal|task) )?(?P<number>\d{1,4}|[a-z](?=\)))[*_]*"
    r"(?:[.):][*_]*|[ \t]+[–—-](?=[ \t]))"
    r"|(?P<bullet>[-*•+◦–](?: \[[ xX]?\])?))"
    r"[ \t]+(?P<item>\S.*)",
    re.IGNORECASE,
)
_SUB_NUMBER = re.compile(r"[ \t]*[*_(]*\d+\.\d+[.)]?[*_]*[ \t]+\S.*")
_IN_LINE = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)][ \t]+")
_BETWEEN = re.compile(r"[\s,;]*(?:(?:and|then|and then)\s*)?\Z")
_TAGS = re.compile(r"<((?:sub-?_?)?goal|step|item|task)>([^<]+)</\1>", re.IGNORECASE)
_TITLE = re.compile(
    r"(?:the |my )?(?:sub-?)?(?:goals?|plan|steps)[*_]*:[*_ \t]*", re.IGNORECASE
)
_ARROW = re.compile(r"->|=>|→|;")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_AROUND = re.compile(r"([*_]|`|\"|')(?=\S)(.+?)(?<=\S)\1")
_LONGEST = 2000  # characters of an item whose emphasis is looked for
_SAME_LEVEL = 2  # blanks; one less or more is no other level


@dataclass(frozen=True)
class _Item:
    line: int
    indent: int
    number: int | None
    counted_from: str  # "1", "a" or "" for other marks
    text: str


def list_in(text: str) -> list[str] | None:
    """Returns the items of a list, or None. Prose may surround lines that are numbered
    in order. Items below an item explain it and are left out.
    """
    if tagged := _TAGS.findall(text):
        return [plain(item) for _, item in tagged]
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        items = _in_one_line(lines[0])
        if items is not None:
            return items or None
    return _in_lines(lines)


def plain(item: str) -> str:
    """Removes the emphasis of Markdown, and quotes around the item."""
    item = item.strip()
    if len(item) > _LONGEST:
        return item
    item = _STRONG.sub(r"\2", item)
    around = _AROUND.fullmatch(item)
    inner = around[2] if around and around[1] not in around[2] else item
    return inner if inner.count("**") % 2 == 0 else inner.replace("**", "")


def _in_lines(lines: Sequence[str]) -> list[str] | None:
    matches = [(number, _ITEM.fullmatch(line)) for number, line in enumerate(lines)]
    items = [_item(number, match) for number, match in matches if match]
    if not items:
        return None
    level = min(item.indent for item in items) + _SAME_LEVEL
    tops = [item for item in items if item.indent < level]
    for first in ("1", "a"):  # numbers before letters, and both before other marks
        counted = [item for item in tops if item.counted_from == first]
        if counted:
            tops = counted
            break
    places = {item.line for item in tops}
    below = {item.line for item in items}
    for number, line in enumerate(lines):
        if _SUB_NUMBER.fullmatch(line):
            below.add(number)
    below -= places
    if len(tops) == 1 and tops[0].text.rstrip("*_").endswith(":"):
        # The only item is a title, and the list is below it.
        return _in_lines([lines[number] for number in sorted(below)])
    is_whole = len(places | below) == len(lines)
    numbers = {item.number for item in tops}
    # A list in Markdown may have 1 as the number of each item.
    is_list = is_whole and numbers in ({None}, {1})
    if is_list or _in_order(tops, below):
        return [plain(item.text) for item in tops]
    return None


def _item(line: int, match: re.Match[str]) -> _Item:
    mark = match["number"] or ""
    number, counted_from = None, ""
    if mark.isdecimal():
        number, counted_from = int(mark), "1"
    elif mark:
        number, counted_from = ord(mark.lower()) - ord("a") + 1, "a"
    indent = len(match["indent"].expandtabs(4))
    return _Item(line, indent, number, counted_from, match["item"])


def _in_order(tops: Sequence[_Item], below: set[int]) -> bool:
    """Whether the numbers go up by one, with nothing between the lines but what is
    below them.
    """
    ordered = sorted(below)
    begins: set[int] = set()
    for item in tops:
        if item.number is not None:
            line_without_below = item.line - bisect_left(ordered, item.line)
            begins.add(line_without_below - item.number)
    return len(begins) == 1


def _in_one_line(line: str) -> list[str] | None:
    """Reads "1. find a mug 2. heat it", or "find a mug -> heat it" behind a title or
    without. Returns None if it is another line, and no items if its numbers are not in
    order.
    """
    marks = list(_IN_LINE.finditer(line))
    if len(marks) > 1:
        numbers = [int(mark[1]) for mark in marks]
        if numbers != list(range(1, len(marks) + 1)):
            return []
        ends = [*(mark.start() for mark in marks[1:]), len(line)]
        parts = [line[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
        return [plain(_BETWEEN.sub("", part)) for part in parts]
    title = _TITLE.match(line)
    parts = _ARROW.split(line[title.end() :] if title else line)
    if len(parts) < 2 or not all(map(is_step, parts)):
        return None  # a sentence
    return [plain(part.strip(" .")) for part in parts]
