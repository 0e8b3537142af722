"""Finds the thoughts of a reasoning model in an answer that still contains them.

Backends separate thoughts by the markers of their model. The answers here come from
models whose markers nobody configured, or from servers that do not separate thoughts.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from pddlego_local.episode.reading.words import any_of

Markers = tuple[str, str]
"""The texts that begin and end a model's thought."""

Spans = Sequence[tuple[int, int]]
"""Disjoint parts of a text, from left to right."""

_THOUGHT = rf"(?:\w{{1,12}}[:_])?{any_of('thought')}"
_ENDS, _BEGINS = (
    any_of(markers).replace("THOUGHT", _THOUGHT)
    for markers in ("thought_ends", "thought_begins")
)
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
    found: list[tuple[int, int]] = []
    opened, in_channel = -1, False
    for mark in pattern.finditer(text):
        is_channel = "channel" in mark[0]
        if inside(pddl, mark.start()):
            continue
        if mark.lastgroup == "opens":
            if opened < 0:
                opened, in_channel = mark.start(), is_channel
        elif opened >= 0 and (mark.lastgroup == "ends" or in_channel):
            found.append((opened, mark.end()))
            opened = -1
        elif mark.lastgroup == "ends":
            if not (found and is_channel):
                found = [(0, 0)]
            found[-1] = found[-1][0], mark.end()
    unfinished = cut and opened >= 0
    if unfinished:
        found.append((opened, len(text)))
    return found, unfinished


def inside(spans: Spans, at: int) -> bool:
    """Returns whether the place `at` is in one of the spans."""
    index = bisect_right(spans, (at, float("inf"))) - 1
    return index >= 0 and at < spans[index][1]


def without(text: str, spans: Spans) -> str:
    """Returns the text outside of the spans."""
    begins = [0, *(end for _, end in spans)]
    ends = [*(begin for begin, _ in spans), len(text)]
    return "".join(text[begin:end] for begin, end in zip(begins, ends, strict=True))
