"""Comparisons over all parts of a suite: each game is compared with the same game of
the same part, and the differences are pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pddlego_local.report.card.numbers import Won
from pddlego_local.report.comparisons import Comparison, family
from pddlego_local.report.contrasts import Contrast, Role
from pddlego_local.report.first_screen import won_alone
from pddlego_local.report.statistics.rates import LEVEL, Interval
from pddlego_local.report.verdicts import points, span, verdict, word


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """A comparison of two arms over the parts that both played.

    `tested` says whether it is tested; then `word` and `text` are its verdict, and
    `interval` is that of the test. Otherwise `interval` is the one at 95 %. `points`
    has the difference in words, with the interval and its level.
    """

    base: str
    other: str
    parts: int
    games: int
    base_won: Won
    other_won: Won
    difference: float | None
    interval: Interval
    level: float
    points: str
    alone: str
    tested: bool
    word: str = ""
    text: str = ""


def pooled(
    groups: Sequence[Sequence[Contrast]],
    *,
    tested: bool,
    names: tuple[str, str] | None = None,
) -> list[Pooled]:
    """Returns a comparison for each group of contrasts; all of them are one family of
    tests. `names` are those of the two sides, by default the values of their factor.
    """
    role: Role = "primary" if tested else "not asked"
    compared = family(role, groups, frozenset(), ())
    return [
        _in_words(_with_names(found, names), parts=len(group), tested=tested)
        for found, group in zip(compared, groups, strict=True)
    ]


def _with_names(found: Comparison, names: tuple[str, str] | None) -> Comparison:
    if names is None:
        return found
    base, other = names
    return replace(
        found,
        base=replace(found.base, value=base),
        other=replace(found.other, value=other),
    )


def _in_words(found: Comparison, *, parts: int, tested: bool) -> Pooled:
    interval = found.new.interval if tested else found.plain
    level = 1 - (found.new.level if tested else LEVEL)
    return Pooled(
        base=found.base.value,
        other=found.other.value,
        parts=parts,
        games=found.pairs,
        base_won=found.base.success,
        other_won=found.other.success,
        difference=found.difference,
        interval=interval,
        level=level,
        points=_points(found.difference, interval, level),
        alone=won_alone(found),
        tested=tested,
        word=word(found) if tested else "",
        text=verdict(found) if tested else "",
    )


def _points(difference: float | None, interval: Interval, level: float) -> str:
    """For example "+5 points (-12 to 24 at 95 %)"; "–" without pairs."""
    if difference is None:
        return "–"
    return f"{points(difference)} points ({span(interval)} at {100 * level:.4g} %)"
