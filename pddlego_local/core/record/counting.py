"""Decides which episodes are scored, which form one cluster, and how far a run has
come.

All other code uses these functions. The first two decisions are made for a game and
hold for all its trials. A trial that was not played, because an earlier trial had
solved the game, has no record of the map or of a trivial game.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

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


def _reasons_of(row: EpisodeRow) -> set[Apart]:
    """Returns all reasons that one trial gives for excluding its game."""
    found = {OUTCOMES[row.outcome].apart}
    if row.map_seen:
        found.add("seen in training")
    return found


def _all_reasons(rows: Iterable[EpisodeRow]) -> dict[int, set[Apart]]:
    """Returns all reasons for excluding each game; `rows` are the trials."""
    found = defaultdict[int, set[Apart]](set)
    for row in rows:
        found[row.game] |= _reasons_of(row)
    return found


def _first(reasons: Collection[Apart]) -> Apart:
    return next((reason for reason in APART if reason in reasons), "")


def reasons(rows: Iterable[EpisodeRow]) -> dict[int, Apart]:
    """Returns {game: why it is excluded, "" if it is scored}. `rows` are the trials of
    the games in all arms.
    """
    every = _all_reasons(rows)
    return {game: _first(found) for game, found in every.items()}


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
    every = _all_reasons(rows)
    scored = list[EpisodeRow]()
    apart: dict[Apart, list[EpisodeRow]] = {reason: [] for reason in APART}
    for row in rows:
        found = every[row.game]
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


def task_types(rows: Iterable[EpisodeRow]) -> dict[int, str]:
    """Returns the task type of each game, if any of its trials has one: a trial that
    was not played, because an earlier one had solved the game, has none.
    """
    return {row.game: row.task_type for row in rows if row.task_type}


@dataclass
class _Game:
    """The trials of one game so far: why the game is excluded, and which were won."""

    why: Apart = ""
    won: dict[int, bool] = field(default_factory=dict)


class Standing:
    """Running counts over several cells, as their episodes finish.

    These are the scored episodes, the won ones among them, and the excluded ones by
    reason (`apart`). An episode that is added again replaces its earlier result.
    """

    def __init__(self) -> None:
        self.counting = self.won = 0
        self.apart: Counter[Apart] = Counter()
        self._games = defaultdict[tuple[object, int], _Game](_Game)

    def add(self, cell: object, row: EpisodeRow) -> None:
        """Adds a trial, which may show that its game is excluded, with all earlier
        trials of it.
        """
        game = self._games[cell, row.game]
        self._count(game, -1)
        game.won[row.trial] = row.success
        game.why = _first({game.why, *_reasons_of(row)})
        self._count(game, 1)

    def _count(self, game: _Game, sign: int) -> None:
        trials = sign * len(game.won)
        if game.why:
            self.apart[game.why] += trials
        else:
            self.counting += trials
            self.won += sign * sum(game.won.values())

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
            share = self.won / self.counting
            words = f"{share:.1%} of {words}"
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
