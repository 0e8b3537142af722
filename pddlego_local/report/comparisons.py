"""Arms that differ in one thing, compared on the same games: numbers only.

The pairs are episodes of the same game, seed and trial; the game is the cluster (`metrics.paired`).
Which arms are compared is in `report.couples`, on which episodes in `report.pairs`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pddlego_local.metrics.paired import LEVEL, Paired, Tally
from pddlego_local.metrics.rates import Rate
from pddlego_local.outcomes import CAUSES
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.numbers import Labels
from pddlego_local.report.pairs import Game, Match, matches
from pddlego_local.rows import EpisodeRow

Conclusion = Literal["higher", "lower", "not shown", "no pairs"]


@dataclass(frozen=True)
class Interval:
    """From -1 to 1."""

    low: float
    high: float


@dataclass(frozen=True)
class PerSuccess:
    """What one success cost: all that the compared episodes took, lost ones too, by the successes.
    None where nothing was won. Seconds are the wall clock of an episode, others beside it."""

    calls: float | None
    sampled_tokens: float | None
    wall_time_s: float | None


@dataclass(frozen=True)
class Side:
    """One of the two arms, over the compared episodes. `value` is what sets it apart: "free"."""

    value: str
    success: Rate
    per_success: PerSuccess


@dataclass(frozen=True)
class Taken:
    """So many pairs that one side won and `lost_by` ("base" or "other") lost: how it ended there,
    and the cause of most of its unusable answers, "" if all were usable."""

    lost_by: Literal["base", "other"]
    outcome: str
    cause: str
    pairs: int


@dataclass(frozen=True)
class Comparison:
    """`other` less `base`, on the episodes that both finished.

    factor          the option in which they differ, such as "decoding.rung"
    labels          what they share: labels, and the settings that vary in the report
    pooled          what is pooled, such as "rooms 3, 5, 7"; "" for one kind of games
    caveats         what else differs between the two, in words
    games, pairs    compared; `missing` pairs were asked of both, and one result or both are absent
    difference      in success, from -1 to 1; None of no pairs. `interval` is of 95 %, before Holm
    of_asked        the interval's ends if all results that are missing had gone against `other`,
                    or all for it
    p, p_holm       two-sided, alone and adjusted for the `family` comparisons of the report
    smallest_shown  the difference that so many games would have shown in four of five experiments,
                    at 5 % and before Holm; None if none
    taken           where the pairs went that only one side won
    """

    factor: str
    labels: Labels
    pooled: str
    base: Side
    other: Side
    caveats: tuple[str, ...]
    games: int
    pairs: int
    missing: int
    difference: float | None
    interval: Interval
    of_asked: Interval
    p: float | None
    p_holm: float | None
    family: int
    smallest_shown: float | None
    taken: tuple[Taken, ...]

    @property
    def conclusion(self) -> Conclusion:
        if self.difference is None:
            return "no pairs"
        if self.p_holm is None or self.p_holm >= LEVEL:
            return "not shown"
        return "higher" if self.difference > 0 else "lower"

    @property
    def overturned_by_missing(self) -> bool:
        """Whether the results that are missing could take a conclusion away."""
        shown = self.conclusion in ("higher", "lower")
        return bool(shown and self.missing) and self.of_asked.low <= 0 <= self.of_asked.high


def comparisons(
    cells: Sequence[CellRecord], factors: Collection[str] = (), *, with_trivial: bool = False
) -> list[Comparison]:
    """Every two arms that differ in one thing, or of `factors` (`pairs.matches`): constrained
    against free first, and what is pooled before its parts. The family of Holm's adjustment is
    this list."""
    found = [_comparison(match) for match in matches(cells, factors, with_trivial=with_trivial)]
    return _adjusted(found)


@dataclass(frozen=True)
class Transition:
    """`Taken`, with the comparison that it belongs to."""

    factor: str
    labels: Labels
    pooled: str
    base: str
    other: str
    taken: Taken


def transitions(found: Iterable[Comparison]) -> list[Transition]:
    return [
        Transition(one.factor, one.labels, one.pooled, one.base.value, one.other.value, taken)
        for one in found
        for taken in one.taken
    ]


def _adjusted(found: list[Comparison]) -> list[Comparison]:
    """By Holm's method, over all that have a p."""
    from statsmodels.stats.multitest import multipletests  # slow to import

    tested = [one.p for one in found if one.p is not None]
    if not tested:
        return found
    adjusted = iter(multipletests(tested, method="holm")[1])
    return [
        one if one.p is None else replace(one, p_holm=float(next(adjusted)), family=len(tested))
        for one in found
    ]


def _comparison(match: Match) -> Comparison:
    both = [(pair.game, *pair.rows) for pair in match.pairs if pair.rows]
    found = _paired((game, base.success, other.success) for game, base, other in both)
    worst, best = (_paired(pair.results_if(good) for pair in match.pairs) for good in (False, True))
    return Comparison(
        factor=match.factor,
        labels=match.labels,
        pooled=match.pooled,
        base=_side(match.base, [(game, row) for game, row, _ in both]),
        other=_side(match.other, [(game, row) for game, _, row in both]),
        caveats=match.caveats,
        games=len(found.games),
        pairs=found.pairs,
        missing=len(match.pairs) - len(both),
        difference=found.difference,
        interval=Interval(*found.interval),
        of_asked=Interval(worst.interval[0], best.interval[1]),
        p=found.p,
        p_holm=None,
        family=0,
        smallest_shown=found.smallest_shown,
        taken=_taken((base, other) for _, base, other in both),
    )


def _paired(results: Iterable[tuple[Game, bool, bool]]) -> Paired:
    """From (game, success of the base, success of the other)."""
    pairs, gained, lost = Counter[Game](), Counter[Game](), Counter[Game]()
    for game, base, other in results:
        pairs[game] += 1
        gained[game] += other and not base
        lost[game] += base and not other
    return Paired([Tally(count, gained[game], lost[game]) for game, count in pairs.items()])


def _side(value: str, episodes: Sequence[tuple[Game, EpisodeRow]]) -> Side:
    rows = [row for _, row in episodes]
    won = sum(row.success for row in rows)

    def per_success(total: float) -> float | None:
        return total / won if won else None

    return Side(
        value,
        Rate(won, len(rows), len({game for game, _ in episodes})),
        PerSuccess(
            calls=per_success(sum(row.calls for row in rows)),
            sampled_tokens=per_success(sum(row.sampled_tokens for row in rows)),
            wall_time_s=per_success(sum(row.wall_time_s for row in rows)),
        ),
    )


def _taken(both: Iterable[tuple[EpisodeRow, EpisodeRow]]) -> tuple[Taken, ...]:
    """The most frequent first."""
    counts: Counter[tuple[Literal["base", "other"], str, str]] = Counter()
    for base, other in both:
        if base.success != other.success:
            lost_by: Literal["base", "other"] = "base" if other.success else "other"
            row = base if other.success else other
            counts[lost_by, row.outcome, _main_cause(row)] += 1
    ranked = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    return tuple(Taken(*key, pairs) for key, pairs in ranked)


def _main_cause(row: EpisodeRow) -> str:
    """Of most answers that left nothing to carry out; the first in the table where two have as
    many."""
    unusable = [cause for cause in CAUSES if CAUSES[cause].blame != "nobody"]
    return (
        max(unusable, key=lambda cause: row.causes.get(cause, 0))
        if (any(row.causes.get(cause) for cause in unusable))
        else ""
    )
