"""Detects a model that repeats itself, while a stage of an answer is being written.

    "add": ["hall - room", "attic - room", "hall - room", "attic - room", "hall - room"
                                         ^ the part of the list that is kept ends here

The stage is stopped when an item appears in a list for the third time, or when a name
repeats a part of itself for the third time ("none-of-none-of-none-of"). The list keeps
each of the repeated items once, and the answer continues after the list;
`staged.writing` decides how.
"""

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

MOST_TIMES = 2
"""How often an item may appear in a list that is being written."""

_LISTS = frozenset(
    {":objects", ":constants", ":types", ":predicates", ":init", "and", "or"}
)
_MARKS = ("-", ":")
"""After each of these marks comes the type or value of the item before, which is no
item itself.
"""
_SIGNS = frozenset('()[]{}"')
_OPENED_BY = {")": "(", "]": "[", "}": "{"}
_THRICE = re.compile(r"(.*?[^0-9].*?)\1\1")
_BLANKS = r"(?:\s|\\[nrt])+"
_COMMENT = r';(?:[^\\"\n]|\\(?:[^nr]|\Z))*'
_TOKEN = re.compile(rf'(?P<blank>{_BLANKS}|,|{_COMMENT})|[^\s(){{}}\[\]",\\;]+|.')


class _Item(NamedTuple):
    """An item of a list, and where the list ended before it."""

    text: str
    end_before: int


@dataclass
class _Bracket:
    """A bracket or quotation mark at `offset` that is not closed yet.

    `items` has the items after it so far, and `end` is where the last one ends. `head`
    is the first word after a "(". `declares` says that the bracket begins the
    declaration of a predicate, which lists variables. `behind_mark` says that the text
    so far ends with one of _MARKS.
    """

    sign: str
    offset: int
    declares: bool = False
    head: str = ""
    items: list[_Item] = field(default_factory=list)
    end: int = 0
    behind_mark: bool = False

    def add(self, item: str, end: int) -> bool:
        """Adds an item that ends at the offset `end`. Returns whether it appeared too
        often.
        """
        end_before = self.end
        is_value = self.behind_mark
        is_mark = item in _MARKS
        # A list of variables, such as "(?a ?b)", has no word before its items.
        is_head = self.sign == "(" and not self.head and not item.startswith("?")
        self.end = end
        self.behind_mark = is_mark
        self.head = self.head or item
        if is_value or is_mark or is_head or not self.is_list:
            return False
        self.items.append(_Item(item, end_before))
        times = 0
        for earlier in self.items:
            if earlier.text == item:
                times += 1
        return times > MOST_TIMES

    @property
    def is_list(self) -> bool:
        if self.sign != "(" or self.declares:
            return True
        return self.head in _LISTS or self.head.startswith("?")

    @property
    def is_bracketed(self) -> bool:
        """Whether this is a list in round or square brackets."""
        return self.sign in ("(", "[") and self.is_list

    def end_before_repeats(self, partial: str) -> int | None:
        """Returns where the list ends without the repeated items at its end; None if it
        has none.

        `partial` is the unfinished item after them. If no item of the list begins with
        `partial`, the result is None too.
        """
        texts = [item.text for item in self.items]
        new = len(texts)
        while new and texts[new - 1] in texts[: new - 1]:
            new -= 1
        if new == len(texts) or not any(text.startswith(partial) for text in texts):
            return None
        return self.items[new].end_before


class LoopWatch:
    """Reads the text of one stage while it is written.

    `before` is the answer up to the stage. `names` says that a name with a repeated
    part stops the stage too. `in_files` says that the text may be prose with files in
    it, in which only what stands in round or square brackets is a list.

    `kept` is the number of characters of a stopped stage that are kept. It is negative
    if a part of the answer before the stage is removed too, and None if the stage was
    not stopped.
    """

    def __init__(
        self, before: str, *, names: bool = True, in_files: bool = False
    ) -> None:
        self._before = before
        self._names = names
        self._in_files = in_files
        self.kept: int | None = None
        self._begin()

    def __call__(self, text: str) -> bool:
        """Returns whether the stage repeats itself. `text` is the stage's text so far.
        Each call gives a longer beginning of the same text, or starts again with
        another text.
        """
        if len(self._before) + len(text) < self._end:
            self._begin()
        return self._read(self._before + text) != ""

    def breaks(self, text: str) -> bool:
        """Returns whether an unfinished stage ends in a repetition that can be removed,
        and sets `kept`. Either the stage repeats itself, or its token limit was reached
        among items that its list had before.
        """
        self._begin()
        whole = self._before + text
        loop = self._read(whole)
        end: int | None
        if loop == "name":
            end = self._end
        else:
            read = whole[: self._end] if loop == "item" else whole
            end = self._end_before_repeats(read)
        self.kept = None if end is None else end - len(self._before)
        return self.kept is not None

    def _begin(self) -> None:
        self._open = [_Bracket("", 0)]
        self._end = 0  # of the tokens that were read

    def _read(self, whole: str) -> Literal["", "item", "name"]:
        """Reads on to the end of the text, or to the third appearance of an item or
        part of a name, and returns which. The last word of the text may be unfinished
        and is not read.
        """
        for token in _TOKEN.finditer(whole, self._end):
            word = token[0]
            end = token.end()
            is_blank = token["blank"] is not None
            is_watched = end > len(self._before)
            if self._names and is_watched and not is_blank and looping_prefix(word):
                self._end = end
                return "name"
            if end == len(whole) and word not in _SIGNS:
                break
            self._end = end
            if is_blank:
                continue
            is_repeated = _add(self._open, whole, token.start(), end)
            if is_repeated and is_watched and self._is_list(self._open[-1]):
                return "item"
        return ""

    def _is_list(self, bracket: _Bracket) -> bool:
        return bracket.is_bracketed if self._in_files else bracket.is_list

    def _end_before_repeats(self, text: str) -> int | None:
        """Finds the innermost list with repeated items at its end, and returns where it
        ends without them. The last item may be unfinished.
        """
        innermost = self._open[-1]
        partial = ""
        if not innermost.behind_mark:
            begin = innermost.end or innermost.offset + 1
            partial = _as_compared(text[begin:])
        for bracket in reversed(self._open):
            if self._is_list(bracket):
                end = bracket.end_before_repeats(partial)
                if end is not None:
                    return end
            partial = _as_compared(text[bracket.offset :])
        return None


def _add(open_: list[_Bracket], text: str, start: int, end: int) -> bool:
    """Reads one token. Returns whether it is, or ends, an item that is in its list too
    often.
    """
    sign = text[start:end]
    is_opening = sign in ("(", "[", "{")
    if sign == '"':
        is_opening = not any(bracket.sign == '"' for bracket in open_)
    if is_opening:
        declares = open_[-1].head == ":predicates"
        open_.append(_Bracket(sign, start, declares))
        return False
    if sign in _OPENED_BY and open_[-1].sign != _OPENED_BY[sign]:
        return False  # prose, such as "1)"
    if sign in (")", "]", "}", '"'):
        closed = open_.pop()
        while sign == '"' and closed.sign != '"':
            closed = open_.pop()  # a bracket that the file in the string leaves open
        start = closed.offset
    return open_[-1].add(_as_compared(text[start:end]), end)


def open_brackets(text: str) -> list[str]:
    """Returns the brackets and quotation marks that a text leaves open."""
    open_ = [_Bracket("", 0)]
    for token in _TOKEN.finditer(text):
        if token["blank"] is None:
            _add(open_, text, token.start(), token.end())
    return [bracket.sign for bracket in open_[1:]]


def _as_compared(text: str) -> str:
    """Returns an item as it is compared: case, white space and its JSON escapes do not
    matter.
    """
    return re.sub(_BLANKS, " ", text).strip(" ,").lower()


def looping_prefix(name: str) -> str:
    """Returns the beginning of a name that has a part three times in a row, to the end
    of the second time; "" for any other name.

    "none-of-none-of-none-of-" gives "none-of-none-of-", "none-of-none-of-none" gives
    "". A part that has only digits may be repeated.
    """
    lower = name.lower()
    match = _THRICE.search(lower)
    if match is None:
        return ""
    part = match[1]
    return lower[: match.end() - len(part)]
