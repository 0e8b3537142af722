"""What was known of a game's map when a plan was asked for, and what turned out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Turn
from pddlego_local.core.record.events import ActionTaken, Event, Restart, Start
from pddlego_local.environments.known import Known
from pddlego_local.episode.episode import FIRST_COMMAND

Describe = Callable[[Sequence[Turn], str], list[Known]]


@dataclass(frozen=True)
class MapLine:
    """`later` is what the game had told by the episode's end; `verdict` compares what the problem
    says with what the game had told so far: "as told", "not told", "left out" or "otherwise"; ""
    where these cannot be compared."""

    known: Known
    later: str
    verdict: str


class Turns:
    """All that the game has said so far: after a reset the first turn and those replayed again."""

    def __init__(self) -> None:
        self.all: list[Turn] = []
        self._attempt: list[Turn] = []

    def add(self, event: Event) -> None:
        match event:
            case Start():
                self._attempt = [Turn(FIRST_COMMAND, event.observation)]
                self.all += self._attempt
            case ActionTaken(command=str() as command):
                turn = Turn(command, event.observation)
                self._attempt.append(turn)
                self.all.append(turn)
            case Restart():
                self._attempt = list(_kept(self._attempt, event.replayed))
                self.all += self._attempt


def _kept(attempt: Sequence[Turn], replayed: Iterable[str]) -> Iterator[Turn]:
    """The first turn, and the next one of each command that was given again."""
    turns = iter(attempt)
    yield from list(attempt[:1])
    next(turns, None)
    for command in replayed:
        found = next((turn for turn in turns if turn.command == command), None)
        if found:
            yield found


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
