"""Arms that differ in one thing, compared on the same games: numbers only.

A pair is a game with a seed, as both arms played it, success that after the last trial; games with
the same map are one cluster, whatever their seeds (`report.statistics.paired`). Which arms are
compared is in `report.couples`, on which games in `report.pairs`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pddlego_local.report.asked import Questions, questions
from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.couples import Role, groups
from pddlego_local.report.numbers import Labels
from pddlego_local.report.pairs import Match, Of, Trials, match, solved
from pddlego_local.report.statistics.clustered import LEVEL
from pddlego_local.report.statistics.holm import Adjusted, holm
from pddlego_local.report.statistics.paired import Paired, Tally
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.transitions import Taken, taken_by

Conclusion = Literal["higher", "lower", "not shown", "no pairs", "not asked"]


@dataclass(frozen=True)
class Interval:
    """From -1 to 1."""

    low: float
    high: float


@dataclass(frozen=True)
class PerSuccess:
    """What one solved game cost: all that all trials of the compared games took, lost ones too, by
    the games solved. None where nothing was won."""

    calls: float | None
    sampled_tokens: float | None


@dataclass(frozen=True)
class Side:
    """One of the two arms, over the compared games. `value` is what sets it apart: "free"."""

    value: str
    success: Rate
    per_success: PerSuccess


@dataclass(frozen=True)
class Comparison:
    """`other` less `base`, on the games that both finished.

    role                "primary" and "secondary" ones are tested, the others are differences alone
    factor              the option in which they differ, such as "decoding.rung"
    labels              what they share: labels, and the settings that vary in the report
    pooled              what is pooled, such as "rooms 3, 5, 7"; "" for one kind of games
    layout              the layout that comes with the grammar of one of them; "" for none
    caveats             what else differs between the two, in words
    games, maps, pairs  compared; games of unknown map are a map each. `missing` pairs were asked of
                        both, and one result or both are absent
    difference          in success, from -1 to 1; None of no pairs
    plain               its interval of 95 %, before Holm
    p, p_holm           two-sided, alone and adjusted for the `family` of those of the same role
    level               at which a difference is shown (`report.statistics.holm`); 5 % of what
                        is not tested
    interval            what the test does not refuse at that level: without 0, a difference is
                        shown
    of_asked            the interval's ends if all results that are missing had gone against
                        `other`, or all for it
    smallest_shown      the difference that so many games would have shown at that level in four of
                        five experiments; None if none
    taken               where the pairs went that only one side won
    """

    role: Role
    factor: str
    labels: Labels
    pooled: str
    layout: str
    base: Side
    other: Side
    caveats: tuple[str, ...]
    games: int
    maps: int
    pairs: int
    missing: int
    difference: float | None
    plain: Interval
    p: float | None
    p_holm: float | None
    family: int
    level: float
    interval: Interval
    of_asked: Interval
    smallest_shown: float | None
    taken: tuple[Taken, ...]

    @property
    def conclusion(self) -> Conclusion:
        if self.role == "not asked":
            return "not asked"
        if self.difference is None or self.p is None:
            return "no pairs"
        if self.p >= self.level:
            return "not shown"
        return "higher" if self.difference > 0 else "lower"

    @property
    def overturned_by_missing(self) -> bool:
        """Whether the results that are missing could take a conclusion away."""
        shown = self.conclusion in ("higher", "lower")
        return bool(shown and self.missing) and self.of_asked.low <= 0 <= self.of_asked.high


@dataclass(frozen=True)
class Compared:
    """`tested` answer what was asked, primary ones first; `others` differ in one thing too."""

    questions: Questions
    tested: list[Comparison]
    others: list[Comparison]


def compared(
    cells: Sequence[CellRecord], words: Sequence[str] = (), *, with_trivial: bool = False
) -> Compared:
    """What the cells' experiments ask, or `words`, those of --compare. Holm's families are the
    primary comparisons and the secondary ones. Raises as `questions`."""
    asked = questions(cells, words)
    varying = varying_options(cells) - {"seed"}
    matches = [match(group, varying, with_trivial) for group in groups(cells, asked.asked)]
    found: dict[Role, list[Comparison]] = {
        role: _family([one for one in matches if one.role == role])
        for role in ("primary", "secondary", "not asked")
    }
    return Compared(asked, found["primary"] + found["secondary"], found["not asked"])


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


def _family(matches: Sequence[Match]) -> list[Comparison]:
    """Comparisons of one role."""
    paired = [_paired(pair.results() for pair in one.pairs if pair.finished) for one in matches]
    asked = [match.role != "not asked" for match in matches]
    tested = [found.p if wanted else None for found, wanted in zip(paired, asked, strict=True)]
    values = [p for p in tested if p is not None]
    adjusted = iter(holm(values))
    return [
        _comparison(one, of, None if p is None else next(adjusted), len(values))
        for one, of, p in zip(matches, paired, tested, strict=True)
    ]


def _comparison(match: Match, found: Paired, adjusted: Adjusted | None, family: int) -> Comparison:
    both = [pair for pair in match.pairs if pair.finished]
    worst, best = (_paired(one.results(good) for one in match.pairs) for good in (False, True))
    level = adjusted.level if adjusted else LEVEL
    return Comparison(
        role=match.role,
        factor=match.factor,
        labels=match.labels,
        pooled=match.pooled,
        layout=match.layout,
        base=_side(match.base, [(pair.cluster, pair.base) for pair in both]),
        other=_side(match.other, [(pair.cluster, pair.other) for pair in both]),
        caveats=match.caveats,
        games=len({pair.game for pair in both}),
        maps=len(found.clusters),
        pairs=found.pairs,
        missing=len(match.pairs) - len(both),
        difference=found.difference,
        plain=Interval(*found.interval()),
        p=found.p if adjusted else None,
        p_holm=adjusted.p if adjusted else None,
        family=family if adjusted else 0,
        level=level,
        interval=Interval(*found.interval(level)),
        of_asked=Interval(worst.interval(level)[0], best.interval(level)[1]),
        smallest_shown=found.smallest_shown(level) if adjusted else None,
        taken=taken_by(both),
    )


def _paired(results: Iterable[tuple[Of, bool, bool]]) -> Paired:
    """From (cluster, success of the base, success of the other)."""
    pairs, gained, lost = Counter[Of](), Counter[Of](), Counter[Of]()
    for cluster, base, other in results:
        pairs[cluster] += 1
        gained[cluster] += other and not base
        lost[cluster] += base and not other
    return Paired([Tally(count, gained[one], lost[one]) for one, count in pairs.items()])


def _side(value: str, played: Sequence[tuple[Of, Trials]]) -> Side:
    """`played` are the trials of each game, with its cluster."""
    rows = [row for _, trials in played for row in trials]
    success = Rate.of((cluster, solved(trials), 1) for cluster, trials in played)
    won = success.k
    return Side(
        value,
        success,
        PerSuccess(
            calls=sum(row.calls for row in rows) / won if won else None,
            sampled_tokens=sum(row.sampled_tokens for row in rows) / won if won else None,
        ),
    )
