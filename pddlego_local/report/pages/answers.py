"""What a model wrote, as a person reads it: an answer's parts, the stages in which it was drawn,
and what changed from one PDDL file to the next, line by line."""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from pddlego_local.core.record.events import Call, DrawnStage
from pddlego_local.decoding.layout import Printer

MOST_LINES = 1000  # of two files that are compared, which takes time as their product grows


@dataclass(frozen=True)
class Drawn:
    """One stage: `taken_back` was rolled back before it, `forced` is its head, which the model did
    not choose, and `chosen` the rest of what it added."""

    stage: DrawnStage
    taken_back: str
    forced: str
    chosen: str


def drawn_stages(call: Call) -> Iterator[Drawn]:
    """The stages of an answer in order; a draft is none."""
    so_far = ""
    for stage in call.stages:
        if stage.name != "draft":
            head = stage.head if stage.text.startswith(stage.head) else ""
            taken_back = so_far[len(stage.before) :] if stage.drop else ""
            yield Drawn(stage, taken_back, head, stage.text[len(head) :])
            so_far = stage.before + stage.text


def parts_of(text: str) -> list[tuple[str, str]]:
    """(key, value) of an answer that is a JSON object, else the text under no key."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        return [("", text)]
    return [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in answer.items()
    ]


class Line(NamedTuple):
    """One line of a file; `change` is "" where both files have it."""

    change: Literal["", "new", "gone"]
    text: str


@lru_cache(maxsize=64)  # a domain that does not change is read once an episode
def readable_file(text: str) -> str:
    """A PDDL file in the layout `lines`, with the parentheses that end a section on a line of their
    own; what is no PDDL, as it was written."""
    try:
        printed = Printer("lines").file(text)
    except (ValueError, RecursionError):
        return text
    lines: list[str] = []
    for line in printed.split("\n"):
        closing = ")" * (line.count(")") - line.count("("))
        lines += [line.removesuffix(closing), closing] if closing else [line]
    return "\n".join(lines)


def difference(before: str, after: str) -> list[Line]:
    """The lines of both texts in order; the first ones of `after` alone where they are too many to
    compare, or where there was nothing before."""
    old, new = before.split("\n"), after.split("\n")
    if not before or len(old) + len(new) > MOST_LINES:
        left = len(new) - MOST_LINES
        more = [f"… ({left} lines more: see the transcript)"] if left > 0 else []
        return [Line("", text) for text in (*new[:MOST_LINES], *more)]
    lines: list[Line] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [Line("", text) for text in new[c:d]]
        else:
            lines += [Line("gone", text) for text in old[a:b]]
            lines += [Line("new", text) for text in new[c:d]]
    return lines
