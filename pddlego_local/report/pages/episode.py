"""What an episode's page shows: its events in order, with what changed from one to the next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.events import Call, End, Event, Plan
from pddlego_local.environments import family
from pddlego_local.environments.known import Known
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.pages.answers import Drawn, drawn_stages, parts_of
from pddlego_local.report.pages.differences import Line, difference, readable_file
from pddlego_local.report.pages.links import EpisodeLink, Neighbours
from pddlego_local.report.pages.maps import Describe, MapLine, Turns, map_lines
from pddlego_local.report.pages.rendering import page


@dataclass(frozen=True)
class Entry:
    """One event; `begins` is the number of the step that begins with it, 0 where none does. Of a
    plan, `files` are the lines of its domain and problem; `first` says that none came before."""

    event: Event
    begins: int = 0
    parts: Sequence[tuple[str, str]] = ()
    stages: Sequence[Drawn] = ()
    files: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    first: bool = False
    map: Sequence[MapLine] = ()


def episode_page(
    cell: CellRecord,
    link: EpisodeLink,
    events: Sequence[Event],
    neighbours: Neighbours,
    unreadable: str = "",
) -> str:
    """HTML. `unreadable` says why there are no events."""
    describe = family.known(_package(cell))
    steps = [event.where.step for event in events if isinstance(event, Call)]
    return page(
        "episode.html.jinja",
        styles=["common.css", "episode.css"],
        cell=cell,
        link=link,
        neighbours=neighbours,
        unreadable=unreadable,
        entries=entries(events, describe),
        steps=sorted(set(steps)),
        row=next((event.row for event in events if isinstance(event, End)), None),
        OUTCOMES=OUTCOMES,
        CAUSES=CAUSES,
    )


def entries(events: Sequence[Event], describe: Describe | None = None) -> Iterator[Entry]:
    """In order, each with what a page shows besides its own facts."""
    turns, final = Turns(), _final_map(events, describe)
    files = {"domain": "", "problem": ""}
    step = 0
    for event in events:
        turns.add(event)
        match event:
            case Call():
                begins = event.where.step if event.where.step != step else 0
                step = event.where.step
                stages = tuple(drawn_stages(event))
                yield Entry(event, begins, parts=parts_of(event.text), stages=stages)
            case Plan():
                new = {name: readable_file(getattr(event, name)) for name in files}
                changes = {name: difference(files[name], new[name]) for name in files}
                lines = map_lines(describe, turns.all, event.problem, final)
                yield Entry(event, files=changes, first=not any(files.values()), map=lines)
                files = new
            case End():
                yield Entry(event, map=map_lines(describe, turns.all, "", final))
            case _:
                yield Entry(event)


def _final_map(events: Sequence[Event], describe: Describe | None) -> list[Known]:
    """What the game had told of its map when the episode was over."""
    turns = Turns()
    for event in events:
        turns.add(event)
    return describe(turns.all, "") if describe and turns.all else []


def _package(cell: CellRecord) -> str:
    """The environment's package, by the class that played the game."""
    target: str = cell.run.identity["environment"].get("_target_", "")
    return target.rpartition(".")[0].rpartition(".")[0]
