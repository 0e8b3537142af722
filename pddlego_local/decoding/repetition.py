"""A model that goes round in circles: it is noticed while a stage of an answer is being written.

    "add": ["hall - room", "attic - room", "hall - room", "attic - room", "hall - room"
                                         ^ what is kept of the list ends here

An item that comes for the third time in a list breaks the stage off, and so does a name that says a
part of itself for the third time ("none-of-none-of-none-of"). The answer then goes on behind a list
that has each of the repeated items once; `staged.writing` decides how.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from pddlego_local.decoding.grammars.terminals import looping_prefix

MOST_TIMES = 2
"""How often an item may stand in a list that is being written."""

_LISTS = frozenset({":objects", ":constants", ":types", ":predicates", ":init", "and", "or"})
_MARKS = ("-", ":")
"""Behind one stands the type or the value of the item before, which is no item itself."""
_SIGNS = frozenset('()[]{}"')
_BLANKS = r"(?:\s|\\[nrt])+"
_COMMENT = r';(?:[^\\"\n]|\\(?:[^nr]|\Z))*'
_TOKEN = re.compile(rf'(?P<blank>{_BLANKS}|,|{_COMMENT})|[^\s(){{}}\[\]",\\;]+|.')


@dataclass
class _Bracket:
    """A bracket or quotation mark at `offset` that is not closed yet.

    `items` are what it lists so far, each with the offset at which the list ended before it. The
    first word behind a "(" is its `head`. `declares`: it is the declaration of a predicate, which
    lists variables.
    """

    sign: str
    offset: int
    declares: bool = False
    head: str = ""
    items: list[tuple[str, int]] = field(default_factory=list)
    end: int = 0
    behind_mark: bool = False

    def add(self, item: str, end: int) -> bool:
        """Adds an item that ends at the offset `end`; whether it has come too often."""
        before, self.end = self.end, end
        behind_mark, self.behind_mark = self.behind_mark, item in _MARKS
        is_head = self.sign == "(" and not self.head
        self.head = self.head or item
        if behind_mark or self.behind_mark or (is_head and item[0] != "?") or not self.is_list:
            return False
        self.items.append((item, before))
        return [name for name, _ in self.items].count(item) > MOST_TIMES

    @property
    def is_list(self) -> bool:
        return self.sign != "(" or self.declares or self.head in _LISTS or self.head[:1] == "?"

    def end_before_repeats(self, partial: str) -> int | None:
        """Where the list ends without the items at its end that it had before; None if it has none
        there. `partial`, which is still being written behind them, must begin like one of them."""
        names = [name for name, _ in self.items]
        new = len(names)
        while new and names[new - 1] in names[: new - 1]:
            new -= 1
        again = new < len(names) and any(name.startswith(partial) for name in names)
        return self.items[new][1] if again else None


class RepetitionWatch:
    """Sees the text of one stage as it comes. `before` is the answer up to the stage; `names` says
    that a stage with a looping name is broken off too.

    `kept` is how many characters stay of a stage that was broken off, less than 0 if some of the
    answer before it falls away too; None for any other stage.
    """

    def __init__(self, before: str, *, names: bool = True) -> None:
        self._before, self._names = before, names
        self.kept: int | None = None
        self._begin()

    def __call__(self, text: str) -> bool:
        """Whether the stage goes round in circles. `text` is the stage's text so far. Each call
        gives a longer beginning of the same text, or starts again with another text."""
        if len(self._before) + len(text) < self._end:
            self._begin()
        return self._read(self._before + text) != ""

    def breaks(self, text: str) -> bool:
        """Whether a stage that was not written to its end can be broken off: it went in circles, or
        its limit cut it among items that its list had before. Then `kept` is set."""
        self._begin()
        whole = self._before + text
        circle = self._read(whole)
        whole = whole[: self._end] if circle else whole
        end = self._end if circle == "name" else _end_before_repeats(whole, self._open)
        self.kept = None if end is None else end - len(self._before)
        return self.kept is not None

    def _begin(self) -> None:
        self._open, self._end = [_Bracket("", 0)], 0

    def _read(self, whole: str) -> Literal["", "item", "name"]:
        """Goes on behind what has been read, to the end of the text or of a circle. A word at the
        end of the text may not be finished, and is left unread."""
        for token in _TOKEN.finditer(whole, self._end):
            word, end = token[0], token.end()
            watched = end > len(self._before)
            if self._names and watched and not token["blank"] and looping_prefix(word):
                self._end = end
                return "name"
            if end == len(whole) and word not in _SIGNS:
                break
            self._end = end
            if not token["blank"] and _add(self._open, whole, token.start(), end) and watched:
                return "item"
        return ""


def _add(open_: list[_Bracket], text: str, start: int, end: int) -> bool:
    """Reads one token. Whether it is, or ends, an item that has come too often in its list."""
    sign = text[start:end]
    in_string = any(bracket.sign == '"' for bracket in open_)
    if sign in ("(", "[", "{") or (sign == '"' and not in_string):
        open_.append(_Bracket(sign, start, declares=open_[-1].head == ":predicates"))
        return False
    if sign in (")", "]", "}", '"'):
        closed = open_.pop()
        while sign == '"' and closed.sign != '"':  # a file that does not close its brackets
            closed = open_.pop()
        start = closed.offset
    return open_[-1].add(_item(text[start:end]), end)


def _end_before_repeats(text: str, open_: list[_Bracket]) -> int | None:
    """Of the innermost list that ends with repeats, however far the last one is written."""
    innermost = open_[-1]
    partial = "" if innermost.behind_mark else _item(text[innermost.end or innermost.offset + 1 :])
    for bracket in reversed(open_):
        end = bracket.end_before_repeats(partial) if bracket.is_list else None
        if end is not None:
            return end
        partial = _item(text[bracket.offset :])
    return None


def _item(text: str) -> str:
    """An item as it is compared: PDDL ignores case, blanks and the JSON escapes of line ends."""
    return re.sub(_BLANKS, " ", text).strip(" ,").lower()
