"""Every object in an answer: as JSON has it, else as models write it, also inside a string."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pddlego_local.episode.reading.relaxed_json import RelaxedJson, unescaped

_OPENING = re.compile(r"\{(?:\s|\\[nrt])*+(\\+[\"'])?")
_END_OF_STRING = re.compile(r"(?<!\\)[\"']")
_MAX_OPENINGS = 1000  # each may be tried to the end of the text: hostile answers have more
_MAX_ESCAPED = 20


@dataclass(frozen=True)
class Found:
    """An object and its place in the text; whether it is JSON to the letter, and whether a brace
    closes it."""

    entries: dict[str, Any]
    start: int
    end: int
    exact: bool
    whole: bool


def objects(
    text: str, is_answer: Callable[[dict[str, Any]], bool], *, exactly: bool = False
) -> Iterator[Found]:
    """From left to right; `exactly` those that are JSON, but for raw line breaks. Inside an object
    that is an answer nothing more is looked for; inside any other, its parts are."""
    openings = list(_OPENING.finditer(text))[-_MAX_OPENINGS:]
    if not openings:
        return
    begin = openings[0].start()
    text = text[begin:]  # where a text is no JSON, Python counts its lines from the beginning
    relaxed = RelaxedJson(text, steps=1_000_000 + 2 * len(text))
    end = escaped = 0
    for opening in openings:
        at = opening.start() - begin
        if at < end:
            continue
        if exactly:
            found = _exact(text, at)
        elif opening[1]:
            escaped += 1
            found = _escaped(text, at) if escaped <= _MAX_ESCAPED else None
        else:
            found = _exact(text, at) or _relaxed(text, at, relaxed)
        if found is None:
            continue
        yield replace(found, start=begin + found.start, end=begin + found.end)
        if is_answer(found.entries):
            end = found.end


_decoder = json.JSONDecoder(strict=False)


def _exact(text: str, at: int) -> Found | None:
    try:
        entries, end = _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return Found(entries, at, end, exact=True, whole=True)


def _relaxed(text: str, at: int, relaxed: RelaxedJson) -> Found | None:
    try:
        entries, end, whole = relaxed.read_object(at)
    except (ValueError, RecursionError):
        return None
    return Found(entries, at, end, exact=False, whole=whole)


def _escaped(text: str, at: int) -> Found | None:
    """An object whose quotes are escaped: it stands in a string, or is written as if it did."""
    closes = _END_OF_STRING.search(text, at)
    end = closes.start() if closes else len(text)
    inner = unescaped(text[at:end])
    found = _exact(inner, 0) or _relaxed(inner, 0, RelaxedJson(inner, steps=1_000_000))
    return found and replace(found, start=at, end=end, exact=False)
