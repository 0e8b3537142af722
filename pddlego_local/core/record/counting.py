"""Decides which episodes are scored, which form one cluster, and how far a run has
come.

All other code uses these functions. The first two decisions are made for a game and
hold for all its trials. A trial that was not played, because an earlier trial had
solved the game, has no record of the map or of a trivial game.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core.grouping import grouped
from pddlego_local.core.outcomes import OUTCOMES, Apart
from pddlego_local.core.record.rows import EpisodeRow

APART: tuple[Apart, ...] = ("unsolvable", "seen in training", "trivial")
"""Why a game is excluded. If there are several reasons, the first in this order is
reported.
"""

Also = Collection[Apart]
"""Reasons for exclusion that are ignored: games excluded for these reasons alone are
scored.
"""

TRIVIAL: tuple[Apart, ...] = ("trivial",)
SEEN: tuple[Apart, ...] = ("seen in training",)

Cluster = str | int
"""The map of a game, or the game's number if its map is unknown."""


def reason(rows: Iterable[EpisodeRow]) -> Apart:
    """Returns why one game is excluded, "" if it is scored. `rows` are its trials in
    all arms.
    """
    return _first(_every_reason(rows))


def _every_reason(rows: Iterable[EpisodeRow]) -> set[Apart]:
    seen: set[Apart] = {"seen in training" for row in rows if row.map_seen}
    return seen | {OUTCOMES[row.outcome].apart for row in rows}


def _first(reasons: Collection[Apart]) -> Apart:
    return next((why for why in APART if why in reasons), "")


def reasons(rows: Iterable[EpisodeRow]) -> dict[int, Apart]:
    """Returns {game: why it is excluded, "" if it is scored}."""
    return {game: reason(trials) for game, trials in _by_game(rows).items()}


@dataclass(frozen=True)
class Counted:
    """Scored rows (`counted`, the denominator) and, by reason, excluded rows
    (`apart`).
    """

    counted: list[EpisodeRow]
    apart: Mapping[Apart, list[EpisodeRow]]


def counted(rows: Sequence[EpisodeRow], *, also: Also = ()) -> Counted:
    """Splits rows into scored and excluded ones.

    A game number must mean the same game in all `rows`: they are the rows of one cell,
    or of arms that are compared. Games that would be excluded for a reason in `also`
    are scored too, and are still listed in `apart`.
    """
    every = {game: _every_reason(trials) for game, trials in _by_game(rows).items()}
    why = {game: _first(found) for game, found in every.items()}
    counting = {
        game for game, found in every.items() if not _first(found.difference(also))
    }
    return Counted(
        [row for row in rows if row.game in counting],
        {name: [row for row in rows if why[row.game] == name] for name in APART},
    )


def clusters(rows: Iterable[EpisodeRow]) -> dict[int, Cluster]:
    """Returns {game: its cluster}. Games with the same map are one cluster.

    A game number must mean the same game in all `rows`, whichever arm they are from. A
    caller that pools several kinds of games must add the kind to each cluster, to keep
    the kinds apart.
    """
    return {
        game: next((row.map for row in trials if row.map), game)
        for game, trials in _by_game(rows).items()
    }


def _by_game(rows: Iterable[EpisodeRow]) -> dict[int, list[EpisodeRow]]:
    return grouped((row.game, row) for row in rows)


class Standing:
    """Running counts over several cells, as their episodes finish.

    These are the scored episodes, the won ones among them, and the excluded ones by
    reason (`apart`). An episode that is added again replaces its earlier result.
    """

    def __init__(self) -> None:
        self.counting = self.won = 0
        self.apart: Counter[Apart] = Counter()
        self._games: dict[tuple[object, int], tuple[Apart, dict[int, bool]]] = {}

    def add(self, cell: object, row: EpisodeRow) -> None:
        """Adds a trial, which may show that its game is excluded, with all earlier
        trials of it.
        """
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
        """For example "80.0% of 10 scored (2 trivial excluded)"; "" before any episode
        ends.
        """
        apart = ", ".join(
            f"{self.apart[why]} {why}" for why in APART if self.apart[why]
        )
        if not self.counting and not apart:
            return ""
        won = f"{self.won / self.counting:.1%} of " if self.counting else ""
        return f"{won}{self.counting:,} scored" + (
            f" ({apart} excluded)" if apart else ""
        )


def time_left_s(
    elapsed_s: float, done: int, under_way: int, total: int
) -> float | None:
    """Estimates the seconds until the last of `total` episodes ends; None before the
    first end.

    An episode in progress is taken as half done: if many episodes are played at once,
    the finished ones are only a part of the work so far. Its other half is not
    subtracted from the remaining work, because fewer episodes are played at once near
    the end.
    """
    return elapsed_s / (done + under_way / 2) * (total - done) if done else None
