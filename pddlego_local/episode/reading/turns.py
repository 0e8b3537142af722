"""Finds the places where a model continues with the words of others: the game, its
user, the next turn of a chat.

A turn begins at a chat's token, at the beginning of a line, or on a line behind a whole
step of the model. The name of a speaker within a sentence begins no turn.
"""

# ruff: noqa: RUF001  # these bars are intended

import re
from collections.abc import Iterator

from pddlego_local.decoding.forms import COMMAND, TEXT, Fields, Form
from pddlego_local.episode.reading.commands import NAMED, breaks_off, is_step
from pddlego_local.episode.reading.numbers import number_in

_TURN = re.compile(
    r"(?P<line>^[ \t>*#_\[(]*(?:Observation|Obs|Environment|Human|User)["
    r" \t*_]*+\d*+[\])*_ \t]*+:)"
    r"|(?<=\s)(?P<inside>(?:Observation|Human|User)(?: \d+)?:)"
    r"|\[INST\]|</s>|<end_of_turn>|<start_of_turn>user"
    r"|<[|｜](?:im_end|endoftext|eot_id|return|user|User)[|｜]>|<\|im_start\|>user",
    re.MULTILINE,
)
_LAST_LABEL = re.compile(
    r".*(?:^|[.!?][ \t]+)(?=(?:Action|Act|Command) ?\d*:)", re.IGNORECASE
)
_ENDS_OBJECT = re.compile(r"(?:\}|`{3}|~{3}|</[\w.:-]+>|\)\)|[\"'”]\s*\])\s*\Z")
_GOAL = re.compile(r"[ \t]*(?:\d+[.)]|[-*•])[ \t]+\S")
_LONGEST_STEP = 400  # characters
_MOST_INSIDE = 200  # names of speakers within lines that are looked at


def turns(text: str, form: Form[Fields], start: int = 0) -> Iterator[int]:
    """Yields the places from `start` on where turns of others begin, from left to
    right.
    """
    looked_at = 0
    for turn in _TURN.finditer(text, start):
        at = turn.start()
        if turn["line"]:
            line_before = text[max(0, at - _LONGEST_STEP) : at]
            if breaks_off(line_before):
                continue  # the name begins only the rest of a wrapped line
        if turn["inside"]:
            looked_at += 1
            if looked_at > _MOST_INSIDE or not _ends_step(text, at, form):
                continue
        yield at


def before_turn(text: str, form: Form[Fields]) -> str:
    """Returns the text before the first turn of others, or the whole text if it begins
    with it.
    """
    end = next(turns(text, form), len(text))
    own = text[:end]
    return own if own.strip() else text


def _ends_step(text: str, at: int, form: Form[Fields]) -> bool:
    """Whether the line holds a whole step of the model before the place `at`."""
    earliest = max(0, at - _LONGEST_STEP)
    line_begin = text.rfind("\n", earliest, at) + 1
    line = text[max(earliest, line_begin) : at]
    if _ENDS_OBJECT.search(line):
        return True
    if form is TEXT or breaks_off(line):
        return False
    if form.name == "goals":
        return _GOAL.match(line) is not None
    if form.name == "choice":
        return number_in(line) is not None
    last = _LAST_LABEL.sub("", line, count=1)
    asks_for_command = form is COMMAND or NAMED.match(last) is not None
    return asks_for_command and is_step(last)
