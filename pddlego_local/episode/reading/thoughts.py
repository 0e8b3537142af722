"""Finds the thoughts of a reasoning model in an answer that still contains them.

Backends separate thoughts by the markers of their model. The answers here come from
models whose markers nobody configured, or from servers that do not separate thoughts.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from pddlego_local.episode.reading.words import any_of

Markers = tuple[str, str]
"""The texts that begin and end a model's thought."""


class Span(NamedTuple):
    """A part of a text."""

    start: int
    end: int


Spans = Sequence[Span]
"""Disjoint parts of a text, from left to right."""

_THOUGHT = rf"(?:\w{{1,12}}[:_])?{any_of('thought')}"
_ENDS = any_of("thought_ends").replace("THOUGHT", _THOUGHT)
_BEGINS = any_of("thought_begins").replace("THOUGHT", _THOUGHT)
_MARKER = re.compile(
    rf"(?P<ends>{_ENDS})|(?P<opens>{_BEGINS})|(?P<ends_message><\|end\|>)", re.I
)


def thoughts(
    text: str, own: Markers | None, *, cut: bool, pddl: Spans
) -> tuple[Spans, bool]:
    """Returns the thoughts in a text, and whether the token limit cut the last one.

    A thought that was cut extends to the end of the text. If a model's `own` markers
    occur, no others are used. An end marker without a beginning ends a thought that
    began in the prompt. A marker in `pddl` is ignored.
    """
    pattern = _MARKER
    if own and any(marker in text for marker in own):
        begin, end = map(re.escape, own)
        pattern = re.compile(rf"(?P<opens>{begin})|(?P<ends>{end})")
    found: list[Span] = []
    opened: re.Match[str] | None = None
    for mark in pattern.finditer(text):
        if inside(pddl, mark.start()):
            continue
        if mark.lastgroup == "opens":
            opened = opened or mark
        elif opened:
            # The end of a message ends only a thought that is a channel of its own.
            if mark.lastgroup == "ends" or "channel" in opened[0]:
                found.append(Span(opened.start(), mark.end()))
                opened = None
        elif mark.lastgroup == "ends":
            is_next_channel = bool(found) and "channel" in mark[0]
            if is_next_channel:
                last = found.pop()
                found.append(Span(last.start, mark.end()))
            else:
                found = [Span(0, mark.end())]
    was_cut = cut and opened is not None
    if opened and was_cut:
        found.append(Span(opened.start(), len(text)))
    return found, was_cut


def inside(spans: Spans, at: int) -> bool:
    """Returns whether the place `at` is in one of the spans."""
    begun = bisect_right(spans, at, key=lambda span: span.start)
    if begun == 0:
        return False
    last = spans[begun - 1]
    return at < last.end


def without(text: str, spans: Spans) -> str:
    """Returns the text outside of the spans."""
    kept = ""
    at = 0
    for span in spans:
        kept += text[at : span.start]
        at = span.end
    return kept + text[at:]
