"""Reads a part of an edit that is still being written: which names and facts it has so
far, and what it says about each of them.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from pddlego_local.decoding.layout import list_of, typed_names
from pddlego_local.decoding.staged.declarations import type_of

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"(?=(?P<opens_list>\s*:\s*[\[{])?)')


class Replaced(NamedTuple):
    """The first string of a pair in "replace", and its offset."""

    offset: int
    text: str


class Key(NamedTuple):
    """Identifies a name or a fact."""

    old: bool
    text: str


@dataclass(frozen=True)
class Mention:
    """A name or fact in a part: one of the problem (`old`), or a new one.

    `heading` is the list that has it, and `says` is what the list says about it. If two
    lists say the same about a name, the second is merely redundant; if they say
    different things, the second is wrong. The text before `cut` has neither the name
    nor the other half of its pair. `untyped` says that its line has no type yet.
    """

    heading: str
    text: str
    old: bool
    cut: int
    says: object = None
    untyped: bool = False

    def key(self, objects: Collection[str]) -> Key:
        """Identifies the name. PDDL ignores the case of names; old ones, those of
        `objects` among them, are spelled as in the problem.
        """
        is_again = self.heading == "add" and self.text in objects
        if self.old or is_again:
            return Key(True, self.text)
        return Key(False, self.text.lower())


def mentions(text: str, first: int) -> list[Mention]:
    """Returns the names and facts after the offset `first`, from left to right; the
    last string may be open.
    """
    is_open = text.count('"', first) % 2 == 1
    whole = text + '"' if is_open else text
    found: list[Mention] = []
    heading = ""
    replaced: Replaced | None = None
    for string in _STRING.finditer(whole, first):
        begin, end = string.span()
        line = json.loads(string[0])
        if string["opens_list"]:
            heading = line
            replaced = None
        elif heading == "delete":
            cut = end_before(text, begin)
            found.append(Mention(heading, line, True, cut, says="delete"))
        elif heading == "replace" and replaced is None:
            cut = end_before(text, begin)
            replaced = Replaced(begin, line)
            found.append(Mention(heading, line, True, cut, says=replaced))
        else:
            untyped = is_open and end > len(text)
            found += _new(text, heading, begin, line, replaced, untyped=untyped)
            replaced = None
    return found


def _new(
    text: str,
    heading: str,
    begin: int,
    line: str,
    replaced: Replaced | None,
    *,
    untyped: bool,
) -> list[Mention]:
    """Returns the fact of a string, or the names of a string such as "a b - room",
    which begins at the offset `begin`. The `cut` of the first name is before the
    string, or before the string that it replaces; the `cut` of a later name is before
    that name.
    """
    first = replaced.offset if replaced else begin
    if line.startswith("("):
        return [Mention(heading, line, False, end_before(text, first))]
    found = []
    for entry in typed_names(list_of(f"({line})")):
        is_first = entry.word.offset <= 1
        cut = end_before(text, first if is_first else begin + entry.word.offset)
        says = type_of(entry) if heading == "add" else replaced
        name = entry.word.text
        found.append(Mention(heading, name, False, cut, says=says, untyped=untyped))
    return found


def end_before(text: str, offset: int) -> int:
    """Returns where the last string or bracket before `offset` ends."""
    return len(text[:offset].rstrip(" \t\r\n,"))


def words(fact: str) -> list[str]:
    return fact.strip("()").split()
