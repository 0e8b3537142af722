"""Decides which episodes are scored, which form one cluster, and how far a run has
come.

All other code uses these functions. The first two decisions are made for a game and
hold for all its trials. A trial that was not played, because an earlier trial had
solved the game, has no record of the map or of a trivial game.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core.grouping import grouped_by
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


def _reasons_of(rows: Iterable[EpisodeRow]) -> set[Apart]:
    """Returns all reasons why one game is excluded; `rows` are its trials."""
    found = {OUTCOMES[row.outcome].apart for row in rows}
    if any(row.map_seen for row in rows):
        found.add("seen in training")
    return found


def _first(reasons: Collection[Apart]) -> Apart:
    return next((reason for reason in APART if reason in reasons), "")


def reasons(rows: Iterable[EpisodeRow]) -> dict[int, Apart]:
    """Returns {game: why it is excluded, "" if it is scored}. `rows` are the trials of
    the games in all arms.
    """
    return {game: _first(_reasons_of(its)) for game, its in _by_game(rows).items()}


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
    reasons_of = {game: _reasons_of(its) for game, its in _by_game(rows).items()}
    scored = list[EpisodeRow]()
    apart: dict[Apart, list[EpisodeRow]] = {reason: [] for reason in APART}
    for row in rows:
        found = reasons_of[row.game]
        if reason := _first(found):
            apart[reason].append(row)
        if not _first(found.difference(also)):
            scored.append(row)
    return Counted(scored, apart)


def clusters(rows: Sequence[EpisodeRow]) -> dict[int, Cluster]:
    """Returns {game: its cluster}. Games with the same map are one cluster.

    A game number must mean the same game in all `rows`, whichever arm they are from. A
    caller that pools several kinds of games must add the kind to each cluster, to keep
    the kinds apart.
    """
    found = dict[int, Cluster]()
    for row in rows:
        if row.map:
            found.setdefault(row.game, row.map)
    return {row.game: found.get(row.game, row.game) for row in rows}


def _by_game(rows: Iterable[EpisodeRow]) -> dict[int, list[EpisodeRow]]:
    return grouped_by(rows, lambda row: row.game)


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
        why = _first({before, *_reasons_of([row])})
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
        excluded = [f"{self.apart[why]} {why}" for why in APART if self.apart[why]]
        if not (self.counting or excluded):
            return ""
        words = f"{self.counting:,} scored"
        if self.counting:
            words = f"{self.won / self.counting:.1%} of {words}"
        if excluded:
            words += f" ({', '.join(excluded)} excluded)"
        return words


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
    if not done:
        return None
    episode_s = elapsed_s / (done + under_way / 2)
    return episode_s * (total - done)
