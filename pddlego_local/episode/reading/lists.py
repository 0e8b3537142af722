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
    if around and around[1] not in around[2]:
        item = around[2]
    is_left_open = item.count("**") % 2 == 1
    return item.replace("**", "") if is_left_open else item


def _in_lines(lines: Sequence[str]) -> list[str] | None:
    items = []
    sub_numbers = set()
    for number, line in enumerate(lines):
        if match := _ITEM.fullmatch(line):
            items.append(_item(number, match))
        if _SUB_NUMBER.fullmatch(line):
            sub_numbers.add(number)
    if not items:
        return None
    tops = _tops(items)
    places = {item.line for item in tops}
    below = {item.line for item in items} | sub_numbers
    below -= places
    first = tops[0].text.rstrip("*_")
    is_title = len(tops) == 1 and first.endswith(":")
    if is_title:  # then the list is below it
        return _in_lines([lines[number] for number in sorted(below)])
    is_whole = len(places | below) == len(lines)
    numbers = {item.number for item in tops}
    # A list in Markdown may have 1 as the number of each item.
    is_list = is_whole and numbers in ({None}, {1})
    if is_list or _in_order(tops, below):
        return [plain(item.text) for item in tops]
    return None


def _tops(items: Sequence[_Item]) -> list[_Item]:
    """Returns the items of the outermost list: those with numbers, else those with
    letters, else those with other marks.
    """
    least_indent = min(item.indent for item in items)
    outer = [item for item in items if item.indent < least_indent + _SAME_LEVEL]
    for first in ("1", "a"):
        counted = [item for item in outer if item.counted_from == first]
        if counted:
            return counted
    return outer


def _item(line: int, match: re.Match[str]) -> _Item:
    mark = match["number"] or ""
    number = None
    counted_from = ""
    if mark.isdecimal():
        number = int(mark)
        counted_from = "1"
    elif mark:
        number = ord(mark.lower()) - ord("a") + 1
        counted_from = "a"
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
            lines_below_before = bisect_left(ordered, item.line)
            line = item.line - lines_below_before
            begins.add(line - item.number)
    return len(begins) == 1


def _in_one_line(line: str) -> list[str] | None:
    """Reads "1. find a mug 2. heat it", or "find a mug -> heat it" behind a title or
    without. Returns None if it is another line, and no items if its numbers are not in
    order.
    """
    marks = list(_IN_LINE.finditer(line))
    if len(marks) > 1:
        return _numbered(line, marks)
    title = _TITLE.match(line)
    listed = line[title.end() :] if title else line
    parts = _ARROW.split(listed)
    is_sentence = len(parts) < 2 or not all(is_step(part) for part in parts)
    if is_sentence:
        return None
    return [plain(part.strip(" .")) for part in parts]


def _numbered(line: str, marks: Sequence[re.Match[str]]) -> list[str]:
    """Returns the items between the numbers of a line, if these are in order."""
    items = []
    ends = [mark.start() for mark in marks[1:]]
    ends.append(len(line))
    for number, (mark, end) in enumerate(zip(marks, ends, strict=True), start=1):
        if int(mark[1]) != number:
            return []
        item = line[mark.end() : end]
        items.append(plain(_BETWEEN.sub("", item)))
    return items
