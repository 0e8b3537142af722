"""What an episode's page shows: its events in order, with what changed from one to the next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.events import Call, End, Event, Plan
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.pages.answers import (
    Line,
    difference,
    drawn_stages,
    parts_of,
    readable_file,
)
from pddlego_local.report.pages.links import EpisodeLink, Neighbours
from pddlego_local.report.pages.rendering import page


@dataclass(frozen=True)
class Entry:
    """One event; `begins` is the number of the step that begins with it, 0 where none does. Of a
    plan, `files` are the lines of its domain and problem; `first` says that none came before."""

    event: Event
    begins: int = 0
    files: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    first: bool = False


def episode_page(
    cell: CellRecord,
    link: EpisodeLink,
    events: Sequence[Event],
    neighbours: Neighbours,
    unreadable: str = "",
) -> str:
    """HTML. `unreadable` says why there are no events."""
    return page(
        "episode.html.jinja",
        styles=["common.css", "episode.css"],
        cell=cell,
        link=link,
        neighbours=neighbours,
        unreadable=unreadable,
        entries=entries(events),
        steps=sorted({event.where.step for event in events if isinstance(event, Call)}),
        row=next((event.row for event in events if isinstance(event, End)), None),
        parts_of=parts_of,
        drawn_stages=drawn_stages,
        OUTCOMES=OUTCOMES,
        CAUSES=CAUSES,
    )


def entries(events: Sequence[Event]) -> Iterator[Entry]:
    """In order, each with what a page shows besides its own facts."""
    files = {"domain": "", "problem": ""}
    step = 0
    for event in events:
        match event:
            case Call():
                yield Entry(event, begins=event.where.step if event.where.step != step else 0)
                step = event.where.step
            case Plan():
                new = {name: readable_file(getattr(event, name)) for name in files}
                changes = {name: difference(files[name], new[name]) for name in files}
                yield Entry(event, files=changes, first=not any(files.values()))
                files = new
            case _:
                yield Entry(event)
