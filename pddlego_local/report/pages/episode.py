"""What an episode's page shows: its events in order, with what changed from one to the next, and
what was known of the game's map when a plan was asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pddlego_local.core.nouns import Turn
from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.events import ActionTaken, Call, End, Event, Plan, Restart, Start
from pddlego_local.environments import family
from pddlego_local.environments.maps import Describe, Known
from pddlego_local.episode.episode import FIRST_COMMAND
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
class MapLine:
    """`later` is what the game had told by the episode's end; `verdict` compares what the problem
    says with what the game had told so far: "as told", "not told", "left out" or "otherwise"; ""
    where these cannot be compared."""

    known: Known
    later: str
    verdict: str


@dataclass(frozen=True)
class Entry:
    """One event; `begins` is the number of the step that begins with it, 0 where none does. Of a
    plan, `files` are the lines of its domain and problem; `first` says that none came before."""

    event: Event
    begins: int = 0
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
    # The environment's package, by the class that played the game.
    target: str = cell.run.identity["environment"].get("_target_", "")
    package = target.rpartition(".")[0].rpartition(".")[0]
    return page(
        "episode.html.jinja",
        styles=["common.css", "episode.css"],
        cell=cell,
        link=link,
        neighbours=neighbours,
        unreadable=unreadable,
        entries=entries(events, family.known(package)),
        steps=sorted({event.where.step for event in events if isinstance(event, Call)}),
        row=next((event.row for event in events if isinstance(event, End)), None),
        parts_of=parts_of,
        drawn_stages=drawn_stages,
        OUTCOMES=OUTCOMES,
        CAUSES=CAUSES,
    )


def entries(events: Sequence[Event], describe: Describe | None = None) -> Iterator[Entry]:
    """In order, each with what a page shows besides its own facts."""
    every = turns_of(events)
    final = describe(every, "") if describe and every else []
    files = {"domain": "", "problem": ""}
    step = 0
    for number, event in enumerate(events):
        match event:
            case Call():
                yield Entry(event, begins=event.where.step if event.where.step != step else 0)
                step = event.where.step
            case Plan():
                new = {name: readable_file(getattr(event, name)) for name in files}
                changes = {name: difference(files[name], new[name]) for name in files}
                lines = map_lines(describe, turns_of(events[:number]), event.problem, final)
                yield Entry(event, files=changes, first=not any(files.values()), map=lines)
                files = new
            case End():
                yield Entry(event, map=map_lines(describe, every, "", final))
            case _:
                yield Entry(event)


def turns_of(events: Sequence[Event]) -> list[Turn]:
    """All that the game has said: after a reset the first turn and those replayed again."""
    every: list[Turn] = []
    attempt: list[Turn] = []
    for event in events:
        match event:
            case Start():
                attempt = [Turn(FIRST_COMMAND, event.observation)]
                every += attempt
            case ActionTaken(command=str() as command):
                attempt.append(Turn(command, event.observation))
                every.append(attempt[-1])
            case Restart():
                left = iter(attempt[1:])  # of which each command that is replayed takes the next
                again = (next((t for t in left if t.command == c), None) for c in event.replayed)
                attempt = [*attempt[:1], *filter(None, again)]
                every += attempt
    return every


def map_lines(
    describe: Describe | None, turns: Sequence[Turn], problem: str, final: Sequence[Known]
) -> list[MapLine]:
    """What a problem says of the map, and what the turns before it said; [] for an environment
    without a map. `final` is what the game had told of it by the episode's end."""
    later = {known.what: known.told for known in final}
    lines = describe(turns, problem) if describe and turns else []
    return [MapLine(known, later.get(known.what, ""), _verdict(known)) for known in lines]


def _verdict(known: Known) -> str:
    if known.agrees is None:
        return ""
    if not known.told or not known.written:
        return "left out" if known.told else "not told"
    return "as told" if known.agrees else "otherwise"
