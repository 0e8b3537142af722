"""The comparisons of a suite that an evaluation cannot make, and why."""

from collections.abc import Iterator
from dataclasses import dataclass

from pddlego_local.report.card.numbers import Evaluated
from pddlego_local.runner.suite import BY_RULES, suite


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A pair of arms that the suite compares, and why it is not compared here."""

    base: str
    other: str
    why: str


def left_out(evaluated: Evaluated) -> Iterator[LeftOut]:
    """Yields the pairs without a part that both arms have begun; none for an entry by
    rules, which has one arm alone.
    """
    entry = evaluated.entry
    if entry.name in BY_RULES:
        return
    begun = [played for played in entry.plays if evaluated.cell(played)]
    parts_of = {
        arm: {played.part for played in begun if played.arm == arm}
        for pair in suite().compare
        for arm in pair.values()
    }
    for pair in suite().compare:
        base, other = pair["base"], pair["other"]
        if parts_of[base] & parts_of[other]:
            continue
        lacking = [arm for arm in (base, other) if not parts_of[arm]]
        reasons = dict.fromkeys(_why(evaluated, arm) for arm in lacking)
        why = "; ".join(reasons) or "no part was played by both"
        yield LeftOut(base=base, other=other, why=why)


def _why(evaluated: Evaluated, arm: str) -> str:
    """Says why nothing was played by an arm."""
    size = evaluated.entry.size
    if arm not in suite().size(size).arms:
        return f"the size {size} leaves out {arm}"
    reasons = dict.fromkeys(
        played.why for played in evaluated.entry.plays if played.arm == arm
    )
    said = "; ".join(filter(None, reasons))
    return f"{arm} was not played: {said}" if said else f"{arm} has no result yet"
