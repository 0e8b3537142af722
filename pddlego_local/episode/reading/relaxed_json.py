"""JSON as language models write it: the frame is forgiven, what the strings hold is not touched.

Forgiven are comments, commas too many or too few, the quotes of Python, JavaScript and print,
fences in place of quotes, keys without quotes, raw line breaks, escapes that JSON does not know,
quotes inside a string, strings that are put together, and a last brace that is missing.
"""
# ruff: noqa: RUF001  # these quotes are meant

import json
import re
from typing import Any

_BLANK = r"(?:[\s\ufeff]++|//[^\n]*+|#[^\n]*+|/\*(?s:.*?)\*/)*+"
_QUOTE = "[\"'`“”‘’„＂]"
_KEY = rf"{_QUOTE}?[A-Za-z_][\w .-]{{0,40}}{_QUOTE}?[ \t]*[:=]"

_BLANKS = re.compile(_BLANK)
_OPENS = re.compile(r"[rRuU]?(\"\"\"|'''|```(?:[\w+.-]*[ \t]*\n)?|[\"'`“‘„＂])")
_KEY_AND_SIGN = re.compile(rf"{_QUOTE}?([A-Za-z_][\w .-]{{0,40}}?)[ \t]*{_QUOTE}?[ \t]*[:=]>?")
_LITERAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|True|False|None")
_END_OF_FRAME = re.compile(r"\Z|```|~~~|</")
_CLOSES = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ('"', "'", "`", "＂")} | {
    quote: re.compile(r"\\.|[”“’\"]", re.DOTALL) for quote in "“‘„"
}
_AFTER_VALUE = re.compile(
    rf"{_BLANK}(?:,{_BLANK})?(?:[}}\]]|{_END_OF_FRAME.pattern})"
    rf"|{_BLANK}[,;]{_BLANK}{_KEY}|[ \t]*\n{_BLANK}{_KEY}"
)
_AFTER_ITEM = re.compile(
    rf"{_BLANK}(?:,{_BLANK})?(?:\]|\Z)|{_BLANK},{_BLANK}(?:{_QUOTE}|[\d{{\[-])"
    rf"|[ \t]*\n{_BLANK}{_QUOTE}"
)
_GOES_ON = re.compile(rf"{_BLANK}\+{_BLANK}(?=[\"'`])")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|\r\n|.)", re.DOTALL)
_MEANING = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_MAX_DEPTH = 20


def unescaped(text: str) -> str:
    """Each escape is what JSON makes of it; a backslash that means nothing there goes."""
    plain = _ESCAPE.sub(lambda match: _meaning(match[1]), text)
    if "\\ud" in text.lower():  # halves of one character
        plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return plain


def _meaning(escape: str) -> str:
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _MEANING.get(escape, escape)


class RelaxedJson:
    """Reads objects of one text. `steps` bounds the work on all of them together, in characters."""

    def __init__(self, text: str, steps: int) -> None:
        self._text, self._steps = text, steps
        self._whole = True

    def read_object(self, at: int) -> tuple[dict[str, Any], int, bool]:
        """The object that opens at `at`, where it ends, and whether its brace closes it.

        Raises ValueError where there is none.
        """
        self._whole = True
        entries, end = self._object(at, 0)
        return entries, end, self._whole

    def read_array(self, at: int) -> tuple[list[Any], int]:
        """The array that opens at `at`, and its end. Raises ValueError where there is none."""
        return self._array(at, 0)

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        entries: dict[str, Any] = {}
        at += 1
        while True:
            at = self._skip(at)
            if self._text.startswith("}", at):
                return entries, at + 1
            if entries and _END_OF_FRAME.match(self._text, at):
                self._whole = False
                return entries, at
            key = _KEY_AND_SIGN.match(self._text, at)
            if key is None:
                raise ValueError(f"no key at {at}")
            entries[key[1]], at = self._value(self._skip(key.end()), depth, _AFTER_VALUE)
            at = self._skip(at)
            at += self._text.startswith((",", ";"), at)

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        at += 1
        while True:
            at = self._skip(at)
            if self._text.startswith("]", at):
                return items, at + 1
            item, at = self._value(at, depth, _AFTER_ITEM)
            items.append(item)
            at = self._skip(at)
            at += self._text.startswith(",", at)

    def _value(self, at: int, depth: int, after: re.Pattern[str]) -> tuple[Any, int]:
        if depth > _MAX_DEPTH:
            raise ValueError(f"nested too deeply at {at}")
        if self._text.startswith("{", at):
            return self._object(at, depth + 1)
        if self._text.startswith("[", at):
            return self._array(at, depth + 1)
        if opens := _OPENS.match(self._text, at):
            return self._string(opens, depth, after)
        literal = _LITERAL.match(self._text, at)
        if literal is None:
            raise ValueError(f"no value at {at}")
        word = literal[0]
        return _WORDS[word] if word in _WORDS else json.loads(word), literal.end()

    def _string(self, opens: re.Match[str], depth: int, after: re.Pattern[str]) -> tuple[str, int]:
        quote, begin = opens[1], opens.end()
        if len(quote) >= 3:  # three of a kind, perhaps with a language
            end = self._text.find(quote[:3], begin)
            self._count((end if end >= 0 else len(self._text)) - begin)
            if end < 0:
                raise ValueError(f"a string without end at {begin}")
            return unescaped(self._text[begin:end]), end + 3
        for found in _CLOSES[quote].finditer(self._text, begin):
            if found[0][0] != "\\" and after.match(self._text, found.end()):
                self._count(found.end() - begin)
                return unescaped(self._text[begin : found.start()]), found.end()
            if found[0][0] != "\\" and (more := _GOES_ON.match(self._text, found.end())):
                self._count(more.end() - begin)
                rest, end = self._value(more.end(), depth + 1, after)
                return f"{unescaped(self._text[begin : found.start()])}{rest}", end
        self._count(len(self._text) - begin)
        raise ValueError(f"a string without end at {begin}")

    def _skip(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        assert found  # it may be empty
        self._count(found.end() - at + 1)
        return found.end()

    def _count(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise ValueError("too much to try")
