"""Collects what an episode's page shows: its events in order, the lines of the PDDL
that changed from one plan to the next, the parts of each answer, and the stages in
which it was sampled.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.events import Call, DrawnStage, End, Event, Plan
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.layout import Printer
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.pages.links import EpisodeLink, Neighbours
from pddlego_local.report.pages.rendering import page

MOST_LINES = (
    1000  # of two files together; comparing takes time in proportion to their product
)


def drawn_stages(call: Call) -> Iterator[tuple[DrawnStage, str, str, str]]:
    """Yields the stages of an answer in order, without the draft and rejected answers.

    Each stage comes with the text that was rolled back before it, its forced prefix,
    and the rest of its text, which the model chose.
    """
    so_far = ""
    for stage in call.stages:
        if stage.name in ("draft", "rejected"):
            continue
        head = stage.head if stage.text.startswith(stage.head) else ""
        chosen = stage.text.removeprefix(head)
        taken_back = so_far[len(stage.before) :] if stage.drop else ""
        yield stage, taken_back, head, chosen
        so_far = stage.before + stage.text


def parts_of(text: str) -> list[tuple[str, str]]:
    """Returns the (key, value) pairs of an answer that is a JSON object, and otherwise
    [("", text)].
    """
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        return [("", text)]
    parts = []
    for key, value in answer.items():
        if not isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False)
        parts.append((key, value))
    return parts


class Line(NamedTuple):
    """One line of a file; `change` is "" if both files have it."""

    change: Literal["", "new", "gone"]
    text: str


@lru_cache(maxsize=64)  # an unchanged domain is read once in an episode
def readable_file(text: str) -> str:
    """Returns a PDDL file in the layout `lines`, with the closing parentheses of a
    section on a separate line. A text that is not PDDL is returned unchanged.
    """
    try:
        printed = Printer("lines").file(text)
    except (ValueError, RecursionError):
        return text
    lines: list[str] = []
    for line in printed.split("\n"):
        closing = ")" * (line.count(")") - line.count("("))
        lines.append(line.removesuffix(closing))
        if closing:
            lines.append(closing)
    return "\n".join(lines)


def difference(before: str, after: str) -> list[Line]:
    """Returns the lines of both texts in order. If `before` is empty or the texts have
    more than MOST_LINES lines, returns only the first lines of `after`, without
    changes.
    """
    old = before.split("\n")
    new = after.split("\n")
    too_long = len(old) + len(new) > MOST_LINES
    if not before or too_long:
        return _cut(new)
    lines = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        removed = old[old_start:old_end]
        added = new[new_start:new_end]
        if tag == "equal":
            lines += [Line("", text) for text in added]
        else:
            lines += [Line("gone", text) for text in removed]
            lines += [Line("new", text) for text in added]
    return lines


def _cut(texts: Sequence[str]) -> list[Line]:
    lines = [Line("", text) for text in texts[:MOST_LINES]]
    left = len(texts) - len(lines)
    if left:
        lines.append(Line("", f"… ({left} more lines: see the transcript)"))
    return lines


@dataclass(frozen=True)
class Entry:
    """One event. `begins` is the number of the step that begins with it, or 0. For a
    plan, `files` has the lines of its domain and problem, and `first` says whether it
    is the first plan.
    """

    event: Event
    begins: int = 0
    files: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    first: bool = False


def episode_page(cell: CellRecord, link: EpisodeLink, neighbours: Neighbours) -> str:
    """Returns the page as HTML."""
    events, unreadable = cell.events(link.row)
    calls = [event for event in events if isinstance(event, Call)]
    ends = [event for event in events if isinstance(event, End)]
    return page(
        "episode.html.jinja",
        styles=["common.css", "episode.css"],
        cell=cell,
        link=link,
        ended=ended(link.row),
        neighbours=neighbours,
        unreadable=unreadable,
        entries=entries(events),
        steps=sorted({call.where.step for call in calls}),
        row=ends[0].row if ends else None,
        parts_of=parts_of,
        drawn_stages=drawn_stages,
        OUTCOMES=OUTCOMES,
        CAUSES=CAUSES,
    )


def ended(row: EpisodeRow) -> str:
    """Returns how an episode ended, in a few words, for example "lost"."""
    outcome = OUTCOMES[row.outcome]
    if outcome.apart == "unsolvable":
        return "no solution"
    if not row.success:
        return "lost"
    if outcome.apart:
        return "won at the start"
    return "won" if outcome.played else "won in an earlier trial"


def entries(events: Sequence[Event]) -> Iterator[Entry]:
    """Yields the events in order, each with what a page shows in addition."""
    files = {"domain": "", "problem": ""}
    step = 0
    for event in events:
        match event:
            case Call():
                begins_step = event.where.step != step
                step = event.where.step
                yield Entry(event, begins=step if begins_step else 0)
            case Plan():
                new = {name: readable_file(getattr(event, name)) for name in files}
                changes = {name: difference(files[name], new[name]) for name in files}
                yield Entry(event, files=changes, first=not any(files.values()))
                files = new
            case _:
                yield Entry(event)
