"""Finds every object in an answer, in strict JSON or as models write it, also inside a
string.

The reader accepts errors around the strings and does not change their contents. It
accepts comments, extra or missing commas, the quotes of Python, JavaScript and
typography, fences in place of quotes, keys and values without quotes, raw line breaks,
escapes that JSON does not know, quotes inside a string, concatenated strings, and a
missing last brace.
"""
# ruff: noqa: RUF001  # these quotes are intended

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

_BLANK = r"(?:[\s\ufeff]++|//[^\n]*+|#[^\n]*+|/\*(?s:.*?)\*/)*+"
_QUOTE = "[\"'`“”‘’„＂]"
_KEY = rf"{_QUOTE}?[A-Za-z_][\w .-]{{0,40}}{_QUOTE}?[ \t]*[:=]"

_BLANKS = re.compile(_BLANK)
_OPENS = re.compile(r"[rRuU]?(\"\"\"|'''|```(?:[\w+.-]*[ \t]*\n)?|[\"'`“‘„＂])")
_KEY_AND_SIGN = re.compile(
    rf"{_QUOTE}?([A-Za-z_][\w .-]{{0,40}}?)[ \t]*{_QUOTE}?[ \t]*[:=]>?"
)
_LITERAL = re.compile(
    r"(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|True|False|None)(?!\w)"
)
_PDDL = re.compile(r";[^\n]*|[()]")
_STOPS = re.compile(r"[,}\]\n]|\Z")
_MOST_WORDS = 400  # characters
_END_OF_FRAME = re.compile(r"\Z|```|~~~|</")
_SAME_QUOTES = ('"', "'", "`", "＂")
_CLOSES = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in _SAME_QUOTES}
_CLOSES |= dict.fromkeys("“‘„", re.compile(r"\\.|[”“’\"]", re.DOTALL))
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
_OF_PYTHON = {"True": "true", "False": "false", "None": "null"}
_MAX_DEPTH = 20

_OPENING = re.compile(r"\{(?:\s|\\[nrt])*+(\\+[\"'])?")
_END_OF_STRING = re.compile(r"(?<!\\)[\"']")
# Each may be read to the end of the text, and hostile answers have more.
_MAX_OPENINGS = 1000
_MAX_ESCAPED = 20
_STEPS = 1_000_000
_DECODER = json.JSONDecoder(strict=False)

IsAnswer = Callable[[dict[str, Any]], bool]
"""Returns whether an object has all keys that are asked for."""


def unescaped(text: str) -> str:
    """Decodes escapes as JSON does; a backslash without a meaning in JSON is
    dropped.
    """
    plain = _ESCAPE.sub(_meaning, text)
    if "\\ud" not in text.lower():
        return plain
    # Two escapes may be the two halves of one character.
    pairs = plain.encode("utf-16", "surrogatepass")
    return pairs.decode("utf-16", "surrogatepass")


def _meaning(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _MEANING.get(escape, escape)


@dataclass(frozen=True)
class Found:
    """An object and its place in the text. `exact` says that it is strict JSON, `whole`
    that a brace closes it.
    """

    entries: dict[str, Any]
    start: int
    end: int
    exact: bool
    whole: bool


class Value(NamedTuple):
    """A value that was read, and where it ends."""

    value: Any
    end: int


class RelaxedJson:
    """Reads objects of one text. `steps` limits the work on all of them together, in
    characters. Each method reads what begins at `at`, and raises ValueError if there is
    no such thing.
    """

    def __init__(self, text: str, steps: int) -> None:
        self._text = text
        self._steps = steps

    def read_object(self, at: int, is_answer: IsAnswer) -> Found:
        """Reads the object that opens at `at`. If the object already is an answer, it
        ends before text that cannot be read. Raises ValueError if there is no object.
        """
        self._whole = True
        # The part of the object that is read, up to `_read`.
        self._top: dict[str, Any] = {}
        self._read = at
        try:
            self._top, self._read = self._object(at, 0)
        except (ValueError, RecursionError):
            if not is_answer(self._top):
                raise
            self._whole = False
        return Found(self._top, at, self._read, exact=False, whole=self._whole)

    def _object(self, at: int, depth: int) -> Value:
        entries: dict[str, Any] = {}
        at = self._skip(at + 1)
        while not self._text.startswith("}", at):
            if entries and _END_OF_FRAME.match(self._text, at):
                self._whole = False
                return Value(entries, at)
            key = _KEY_AND_SIGN.match(self._text, at)
            if key is None:
                raise ValueError(f"no key at {at}")
            begin = self._skip(key.end())
            entries[key[1]], at = self._value(begin, depth, _AFTER_VALUE)
            if depth == 0:
                self._top = entries
                self._read = at
            at = self._skip_sign(at, (",", ";"))
        return Value(entries, at + 1)

    def _array(self, at: int, depth: int) -> Value:
        items: list[Any] = []
        at = self._skip(at + 1)
        while not self._text.startswith("]", at):
            item, at = self._value(at, depth, _AFTER_ITEM)
            items.append(item)
            at = self._skip_sign(at, (",",))
        return Value(items, at + 1)

    def _value(self, at: int, depth: int, after: re.Pattern[str]) -> Value:
        """Reads a value. `after` is a pattern for the text that may follow it."""
        if depth > _MAX_DEPTH:
            raise ValueError(f"nested too deeply at {at}")
        if self._text.startswith("{", at):
            return self._object(at, depth + 1)
        if self._text.startswith("[", at):
            return self._array(at, depth + 1)
        if opens := _OPENS.match(self._text, at):
            return self._string(opens, depth, after)
        if literal := _LITERAL.match(self._text, at):
            word = _OF_PYTHON.get(literal[0], literal[0])
            return Value(json.loads(word), literal.end())
        return self._unquoted(at, after)

    def _unquoted(self, at: int, after: re.Pattern[str]) -> Value:
        """Reads PDDL in its brackets, or words up to the end of the value."""
        ends: list[int] = []
        if self._text.startswith("(", at):
            ends = self._closing(at)
        elif self._text[at : at + 1].isalpha():
            stops = _STOPS.finditer(self._text, at, at + _MOST_WORDS)
            ends = [stop.start() for stop in stops]
        for end in ends:
            # In a list, what follows the comma may be without quotes too.
            is_item = after is _AFTER_ITEM and self._text.startswith(",", end)
            if is_item or after.match(self._text, end):
                self._count(end - at)
                words = self._text[at:end].strip()
                return Value(words, end)
        raise ValueError(f"no value at {at}")

    def _closing(self, at: int) -> list[int]:
        """Returns where the bracket that opens at `at` closes, if it does."""
        depth = 0
        for found in _PDDL.finditer(self._text, at):
            if found[0] == "(":
                depth += 1
            elif found[0] == ")":
                depth -= 1
            if depth == 0:
                return [found.end()]
        self._count(len(self._text) - at)
        return []

    def _string(
        self, opens: re.Match[str], depth: int, after: re.Pattern[str]
    ) -> Value:
        quote = opens[1]
        begin = opens.end()
        closes = _CLOSES.get(quote)
        if closes is None:
            three_signs = quote[:3]  # without the language that a fence may name
            closes = re.compile(re.escape(three_signs))
        for found in closes.finditer(self._text, begin):
            is_escape = found[0].startswith("\\")
            if is_escape:
                continue
            text = self._text[begin : found.start()]
            end = found.end()
            if after.match(self._text, end):
                self._count(end - begin)
                return Value(unescaped(text), end)
            if more := _GOES_ON.match(self._text, end):
                self._count(more.end() - begin)
                rest = self._value(more.end(), depth + 1, after)
                return Value(f"{unescaped(text)}{rest.value}", rest.end)
        self._count(len(self._text) - begin)
        raise ValueError(f"a string without end at {begin}")

    def _skip_sign(self, at: int, signs: tuple[str, ...]) -> int:
        """Skips blanks, one sign between entries if there is one, and blanks."""
        at = self._skip(at)
        if self._text.startswith(signs, at):
            return self._skip(at + 1)
        return self._skip(at)

    def _skip(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        assert found  # it can be empty, but not None
        self._count(found.end() - at + 1)
        return found.end()

    def _count(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise ValueError("too much to try")


def objects(
    text: str, is_answer: IsAnswer, *, exactly: bool = False
) -> Iterator[Found]:
    """Yields objects from left to right. With `exactly`, only JSON is read, except for
    raw line breaks. An object that is an answer is not searched for further objects;
    any other object is.
    """
    openings = list(_OPENING.finditer(text))[-_MAX_OPENINGS:]
    if not openings:
        return
    # For each error in JSON, Python counts the lines before it: what comes before the
    # first object is left out, so that this takes less time.
    begin = openings[0].start()
    rest = text[begin:]
    relaxed = None if exactly else RelaxedJson(rest, _STEPS + 2 * len(rest))
    end_of_answer = 0
    escaped = 0
    for opening in openings:
        at = opening.start() - begin
        if at < end_of_answer:
            continue
        if exactly or not opening[1]:
            found = _parsed(rest, at, relaxed, is_answer)
        elif escaped < _MAX_ESCAPED:
            escaped += 1
            found = _escaped(rest, at, is_answer)
        else:
            found = None
        if found:
            yield replace(found, start=begin + found.start, end=begin + found.end)
            if is_answer(found.entries):
                end_of_answer = found.end


def _parsed(
    text: str, at: int, relaxed: RelaxedJson | None, is_answer: IsAnswer
) -> Found | None:
    with contextlib.suppress(ValueError, RecursionError):
        entries, end = _DECODER.raw_decode(text, at)
        return Found(entries, at, end, exact=True, whole=True)
    with contextlib.suppress(ValueError, RecursionError):
        if relaxed:
            return relaxed.read_object(at, is_answer)
    return None


def _escaped(text: str, at: int, is_answer: IsAnswer) -> Found | None:
    """Reads an object whose quotes are escaped, because it is in a string or looks like
    one.
    """
    closes = _END_OF_STRING.search(text, at)
    end = closes.start() if closes else len(text)
    inner = unescaped(text[at:end])
    found = _parsed(inner, 0, RelaxedJson(inner, _STEPS), is_answer)
    if found is None:
        return None
    return replace(found, start=at, end=end, exact=False)
