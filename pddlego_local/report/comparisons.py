"""Arms that differ in one factor, compared on the same games: numbers only.

`report.contrasts` says which arms these are, `report.statistics.paired` how they are tested, and
`report.verdicts` puts the result into words.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Literal, get_args

from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.contrasts import (
    Declarations,
    Group,
    Role,
    caveats,
    declarations,
    groups,
    labels,
    layout,
    pooled_over,
    value,
)
from pddlego_local.report.numbers import Labels
from pddlego_local.report.pairs import GameKey, Pair, Trials, pairs_of, solved
from pddlego_local.report.statistics.paired import Adjusted, Paired, Tally, holm
from pddlego_local.report.statistics.rates import LEVEL, Interval, Rate

Conclusion = Literal["higher", "lower", "not shown", "no pairs", "not asked"]


@dataclass(frozen=True)
class Side:
    """One of the two arms, over the compared games. `value` is what sets it apart: "free".
    `per_success_`: all that all trials of these games took, lost ones too, by the games solved;
    None where nothing was won."""

    value: str
    success: Rate
    per_success_calls: float | None
    per_success_sampled_tokens: float | None


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
    discordant          the pairs that one arm alone won
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
    discordant: tuple[Pair, ...]

    @property
    def won_by(self) -> tuple[int, int, int, int]:
        """Of the pairs: by the base alone, the other alone, both and neither."""
        base = sum(pair.base_won for pair in self.discordant)
        both, discordant = self.base.success.k - base, len(self.discordant)
        return base, discordant - base, both, self.pairs - discordant - both

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
    """`tested` are the declared comparisons, primary ones first; `others` differ in one factor too,
    and nobody declared them."""

    declared: Declarations
    tested: list[Comparison]
    others: list[Comparison]


def compared(
    cells: Sequence[CellRecord], words: Sequence[str] = (), *, with_trivial: bool = False
) -> Compared:
    """What the cells' experiments declare, or `words`, those of --compare. Holm's families are the
    primary comparisons and the secondary ones. Raises as `declarations`."""
    declared = declarations(cells, words)
    varying = varying_options(cells) - {"seed"}
    every = groups(cells, declared.comparisons)
    primary, secondary, others = (
        _family([group for group in every if group.role == role], varying, with_trivial)
        for role in get_args(Role)
    )
    return Compared(declared, primary + secondary, others)


def _family(groups: Sequence[Group], varying: Set[str], with_trivial: bool) -> list[Comparison]:
    """Comparisons of one role."""
    pairs = [[p for one in of.contrasts for p in pairs_of(one, with_trivial)] for of in groups]
    paired = [_paired(pair.results() for pair in of if pair.finished) for of in pairs]
    tested = [p.p if of.role != "not asked" else None for of, p in zip(groups, paired, strict=True)]
    family = [p for p in tested if p is not None]
    adjusted = iter(holm(family))
    return [
        _comparison(of, games, found, None if p is None else next(adjusted), len(family), varying)
        for of, games, found, p in zip(groups, pairs, paired, tested, strict=True)
    ]


def _comparison(
    group: Group,
    pairs: Sequence[Pair],
    found: Paired,
    adjusted: Adjusted | None,
    family: int,
    varying: Set[str],
) -> Comparison:
    first, level = group.contrasts[0], adjusted.level if adjusted else LEVEL
    both = [pair for pair in pairs if pair.finished]
    base = [(pair.cluster, pair.base) for pair in both]
    other = [(pair.cluster, pair.other) for pair in both]
    worst, best = (_paired(pair.results(good) for pair in pairs) for good in (False, True))
    return Comparison(
        role=group.role,
        factor=first.factor,
        labels=labels(group, varying),
        pooled=pooled_over(group),
        layout=layout(first),
        base=_side(value(first.factor, first.base, first.other, varying), base),
        other=_side(value(first.factor, first.other, first.base, varying), other),
        caveats=tuple(dict.fromkeys(caveats(group.contrasts))),
        games=len({pair.game for pair in both}),
        maps=len(found.clusters),
        pairs=found.sums.pairs,
        missing=len(pairs) - len(both),
        difference=found.difference,
        plain=found.interval(),
        p=found.p if adjusted else None,
        p_holm=adjusted.p if adjusted else None,
        family=family if adjusted else 0,
        level=level,
        interval=found.interval(level),
        of_asked=Interval(worst.interval(level).low, best.interval(level).high),
        smallest_shown=found.smallest_shown(level) if adjusted else None,
        discordant=tuple(pair for pair in both if solved(pair.base) != solved(pair.other)),
    )


def _paired(results: Iterable[tuple[GameKey, bool, bool]]) -> Paired:
    """From (cluster, success of the base, success of the other)."""
    pairs, gained, lost = Counter[GameKey](), Counter[GameKey](), Counter[GameKey]()
    for cluster, base, other in results:
        pairs[cluster] += 1
        gained[cluster] += other and not base
        lost[cluster] += base and not other
    return Paired([Tally(count, gained[one], lost[one]) for one, count in pairs.items()])


def _side(value: str, played: Sequence[tuple[GameKey, Trials]]) -> Side:
    """`played` are the trials of each game, with its cluster."""
    rows = [row for _, trials in played for row in trials]
    success = Rate.of((cluster, solved(trials), 1) for cluster, trials in played)
    won = success.k
    calls, tokens = sum(row.calls for row in rows), sum(row.sampled_tokens for row in rows)
    return Side(value, success, calls / won if won else None, tokens / won if won else None)
