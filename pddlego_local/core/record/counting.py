"""Which episodes count, which are of one cluster, and how far a run has come: decided here, for
everyone who counts.

The first two are questions about a game, whose trials share the answer: a trial that was not
played because an earlier one had solved its game knows neither the map nor that it was trivial.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core.outcomes import OUTCOMES, Apart
from pddlego_local.core.record.rows import EpisodeRow

APART: tuple[Apart, ...] = ("unsolvable", "seen in training", "trivial")
"""Why a game stands apart from those that count; of several reasons the first is told."""

Also = Collection[Apart]
"""Reasons why games stand apart which count all the same."""

TRIVIAL: tuple[Apart, ...] = ("trivial",)
SEEN: tuple[Apart, ...] = ("seen in training",)

Cluster = str | int
"""The map of a game, or the game's number where its map is not known."""


def reason(rows: Iterable[EpisodeRow]) -> Apart:
    """Why one game stands apart, "" if it counts; `rows` are its trials, by whichever arms."""
    return _first(_every_reason(rows))


def _every_reason(rows: Iterable[EpisodeRow]) -> set[Apart]:
    seen: set[Apart] = {"seen in training" for row in rows if row.map_seen}
    return seen | {OUTCOMES[row.outcome].apart for row in rows}


def _first(reasons: Collection[Apart]) -> Apart:
    return next((why for why in APART if why in reasons), "")


def reasons(rows: Iterable[EpisodeRow]) -> dict[int, Apart]:
    """{game: why it stands apart, "" if it counts}."""
    return {game: reason(trials) for game, trials in _by_game(rows).items()}


@dataclass(frozen=True)
class Counted:
    """Rows by whether they count: `counted` are the denominator, the others stand apart."""

    counted: list[EpisodeRow]
    apart: Mapping[Apart, list[EpisodeRow]]


def counted(rows: Sequence[EpisodeRow], *, also: Also = ()) -> Counted:
    """The rows of games with the same numbers: a cell's, or those of arms that are compared. Games
    that stand apart for a reason in `also` count too; they are named in `apart` all the same."""
    every = {game: _every_reason(trials) for game, trials in _by_game(rows).items()}
    why = {game: _first(found) for game, found in every.items()}
    counting = {game for game, found in every.items() if not _first(found.difference(also))}
    return Counted(
        [row for row in rows if row.game in counting],
        {name: [row for row in rows if why[row.game] == name] for name in APART},
    )


def clusters(rows: Iterable[EpisodeRow]) -> dict[int, Cluster]:
    """{game: its cluster}, of rows whose game numbers mean the same games, by whichever arms: games
    with the same map are one. Where several kinds of games are pooled, a cluster is one of its kind
    alone: say what makes the games beside it."""
    return {
        game: next((row.map for row in trials if row.map), game)
        for game, trials in _by_game(rows).items()
    }


def _by_game(rows: Iterable[EpisodeRow]) -> dict[int, list[EpisodeRow]]:
    games: dict[int, list[EpisodeRow]] = defaultdict(list)
    for row in rows:
        games[row.game].append(row)
    return games


class Standing:
    """How many episodes count so far, how many of these were won, and how many stand `apart`, by
    reason: of several cells, as their episodes end. An episode that comes again is the same one."""

    def __init__(self) -> None:
        self.counting = self.won = 0
        self.apart: Counter[Apart] = Counter()
        self._games: dict[tuple[object, int], tuple[Apart, dict[int, bool]]] = {}

    def add(self, cell: object, row: EpisodeRow) -> None:
        """One more trial may show that its game stands apart, with all trials before it."""
        before, won = self._games.get((cell, row.game), ("", {}))
        self._count(before, won, -1)
        won[row.trial] = row.success
        why = _first({before, reason([row])})
        self._count(why, won, 1)
        self._games[cell, row.game] = why, won

    def _count(self, why: Apart, won: Mapping[int, bool], sign: int) -> None:
        if why:
            self.apart[why] += sign * len(won)
        else:
            self.counting += sign * len(won)
            self.won += sign * sum(won.values())

    @property
    def success(self) -> str:
        """For example "80.0% of 10 that count (2 trivial left out)"; "" before the first end."""
        apart = ", ".join(f"{self.apart[why]} {why}" for why in APART if self.apart[why])
        if not self.counting and not apart:
            return ""
        won = f"{self.won / self.counting:.1%} of " if self.counting else ""
        return f"{won}{self.counting:,} that count" + (f" ({apart} left out)" if apart else "")


def time_left_s(elapsed_s: float, done: int, under_way: int, total: int) -> float | None:
    """Seconds until the last of `total` episodes ends; None where none has ended yet.

    An episode that is under way counts as half done: where many are played at once, those that have
    ended are only a part of the work so far. Its other half is not taken from what is left: near
    the end fewer are played at once than before.
    """
    return elapsed_s / (done + under_way / 2) * (total - done) if done else None
