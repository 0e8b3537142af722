"""Collects what an episode's page shows: its steps with their events in order, the
maps, the lines of the PDDL that changed from one plan to the next, the parts of each
answer, and the stages in which it was sampled.
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.events import (
    ActionTaken,
    Call,
    DrawnStage,
    End,
    Event,
    Plan,
    Start,
    State,
)
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.map.text import written
from pddlego_local.report.pages.failure import progress_of, refusal_of
from pddlego_local.report.pages.links import EpisodeLink, Neighbours
from pddlego_local.report.pages.maps import Maps, Reference, maps_of
from pddlego_local.report.pages.readable import readable_file
from pddlego_local.report.pages.rendering import page

MOST_FACTS = 12  # of one kind of difference
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
    """One event. For a plan, `files` has the lines of its domain and problem, and
    `first` says whether it is the first plan.
    """

    event: Event
    files: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    first: bool = False
    maps: Maps | None = None


@dataclass(frozen=True)
class Step:
    """A part of an episode: its reset, one step of the method, or its end. `name` is
    the end of its address. `newest` is what the game said last before it.
    """

    title: str
    name: str
    newest: str = ""
    entries: list[Entry] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """The lines of its problem files that are believed and wrong."""
        facts = dict.fromkeys(
            fact
            for entry in self.entries
            if entry.maps
            for fact in sorted(entry.maps.wrong)
        )
        return [*map(written, facts)]


def episode_page(
    cell: CellRecord,
    link: EpisodeLink,
    neighbours: Neighbours,
    reference: Reference,
    back: Sequence[tuple[str, str]],
) -> str:
    """Returns the page as HTML. `back` are titles and addresses of the pages above."""
    events, unreadable = cell.events(link.row)
    steps = steps_of(entries(events, maps_of(events, reference)))
    ends = [event for event in events if isinstance(event, End)]
    return page(
        "episode.html.jinja",
        styles=["common.css", "episode.css", "map.css"],
        script="episode.js",
        cell=cell,
        link=link,
        ended=ended(link.row),
        neighbours=neighbours,
        back=back,
        unreadable=unreadable,
        steps=steps,
        first_wrong=next((step for step in steps if step.wrong), None),
        failed_at=None if link.row.success else progress_of(events),
        has_states=any(isinstance(event, State) for event in events),
        written=written,
        wrong_lines_of=wrong_lines_of,
        refusal_of=refusal_of,
        MOST=MOST_FACTS,
        row=ends[0].row if ends else None,
        parts_of=parts_of,
        drawn_stages=drawn_stages,
        OUTCOMES=OUTCOMES,
        CAUSES=CAUSES,
    )


def wrong_lines_of(entry: Entry) -> set[str]:
    """Returns the lines of a plan's problem file that are believed and wrong."""
    facts = entry.maps.wrong if entry.maps else ()
    return {f"({' '.join(fact)})" for fact in facts}


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


def entries(events: Sequence[Event], maps: Sequence[Maps] = ()) -> Iterator[Entry]:
    """Yields the events in order, each with what a page shows in addition. `maps` are
    those of the plans.
    """
    files = {"domain": "", "problem": ""}
    left = iter(maps)
    for event in events:
        match event:
            case Plan():
                new = {name: readable_file(getattr(event, name)) for name in files}
                changes = {name: difference(files[name], new[name]) for name in files}
                is_first = not any(files.values())
                yield Entry(event, changes, is_first, next(left, None))
                files = new
            case State():
                pass  # the maps show it
            case _:
                yield Entry(event)


def steps_of(entries: Iterable[Entry]) -> list[Step]:
    """Returns the parts of an episode. A step begins with its first call."""
    steps = [Step("Reset", "reset")]
    number = 0
    newest = ""
    for entry in entries:
        event = entry.event
        match event:
            case Call() if event.where.step != number:
                number = event.where.step
                steps.append(Step(f"Step {number}", f"step-{number}", newest))
            case End():
                steps.append(Step("End", "end"))
            case Start():
                newest = event.observation
            case ActionTaken():
                newest = f"{event.observation}\n{event.feedback}".strip()
        steps[-1].entries.append(entry)
    return steps
