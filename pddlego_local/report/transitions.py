"""Where the games went that one arm won and another lost."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pddlego_local.core.outcomes import CAUSES
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.pairs import Pair, solved


@dataclass(frozen=True)
class Taken:
    """So many pairs that one side won and `lost_by` ("base" or "other") lost: how it ended there,
    and the cause of most of its unusable answers, "" if all were usable."""

    lost_by: Literal["base", "other"]
    outcome: str
    cause: str
    pairs: int


def taken_by(both: Iterable[Pair]) -> tuple[Taken, ...]:
    """The most frequent first; of several trials, how the last one ended."""
    counts: Counter[tuple[Literal["base", "other"], str, str]] = Counter()
    for pair in both:
        if solved(pair.base) != solved(pair.other):
            lost_by: Literal["base", "other"] = "base" if solved(pair.other) else "other"
            row = (pair.base if lost_by == "base" else pair.other)[-1]
            counts[lost_by, row.outcome, _main_cause(row)] += 1
    ranked = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    return tuple(Taken(*key, pairs) for key, pairs in ranked)


def _main_cause(row: EpisodeRow) -> str:
    """Of most answers that left nothing to carry out; the first in the table where two have as
    many."""
    unusable = [cause for cause in CAUSES if CAUSES[cause].blame != "nobody"]
    most = max(unusable, key=lambda cause: row.causes.get(cause, 0))
    return most if row.causes.get(most) else ""
