"""What comparisons say, in words that cannot be read for more than was shown."""

from dataclasses import dataclass

from pddlego_local.report.comparisons import Compared, Comparison
from pddlego_local.report.contrasts import Role
from pddlego_local.report.statistics.rates import LEVEL, Interval

NAMED = {"method", "model"}
"""Of these factors no value helps or harms: the second is better or worse than the first."""


@dataclass(frozen=True)
class Verdict:
    """Of the tested comparison of this number. `arms` is "free → grounded", `where` tells this
    comparison apart from the others: "nano, pddlego_plus"; `text` is a sentence."""

    number: int
    role: Role
    arms: str
    where: str
    text: str

    @property
    def title(self) -> str:
        return self.arms + (f" ({self.where})" if self.where else "")


def declared_in_words(compared: Compared) -> str:
    """What was asked, and by whom, in one sentence."""
    asked = [f"{'first of all ' * one.primary}{one}" for one in compared.declared]
    return f"Asked ({compared.origin}): {'; '.join(asked) or 'nothing'}."


def verdicts(compared: Compared) -> list[Verdict]:
    """One for each tested comparison: primary ones first, and of each role those that show a
    difference."""
    labels = [shared(one) for one in compared.tested]
    apart = [name for name in (labels or [{}])[0] if len({row[name] for row in labels}) > 1]
    found = [
        Verdict(
            number,
            one.role,
            f"{one.base.value} → {one.other.value}",
            ", ".join(row[name] for name in apart if row[name]),
            verdict(one),
        )
        for number, (one, row) in enumerate(zip(compared.tested, labels, strict=True))
    ]
    shown = {n for n, one in enumerate(compared.tested) if one.conclusion in ("higher", "lower")}
    return sorted(found, key=lambda one: (one.role, one.number not in shown))


def shared(found: Comparison) -> dict[str, str]:
    """What both arms have in common, by name."""
    return {**found.labels, "pooled": found.pooled}


def verdict(found: Comparison) -> str:
    """One sentence. For example "helps: +12 points (3 to 21), p = 0.004", or "no difference shown:
    +3 points (-8 to 14 at 99 %), p = 0.62 after Holm over 5; n = 30 could have shown 32 points".
    """
    unlike = f"not like with like ({'; '.join(found.caveats)}): " if found.caveats else ""
    layout = f"; the layout `{found.layout}` comes with it" if found.layout and found.pairs else ""
    return unlike + _finding(found) + layout + _of_missing(found)


def _finding(found: Comparison) -> str:
    if found.difference is None and not found.missing:
        return "nothing to compare: no game, seed and trial that counts was asked of both"
    if found.difference is None:
        return f"nothing to compare yet: none of {found.missing} pairs has both results"
    level = f" at {100 * (1 - found.level):.4g} %" if found.level < LEVEL else ""
    p = _p(found.p)
    if found.family > 1:
        lost = found.conclusion == "not shown" and found.p is not None and found.p < LEVEL
        p = f"{_p(found.p_holm)} after Holm over {found.family}" + f", {p} alone" * lost
    effect = f"{points(found.difference)} points ({span(found.interval)}{level}), {p}"
    named = found.factor in NAMED
    if found.conclusion == "higher":
        return f"{'better' if named else 'helps'}: {effect}"
    if found.conclusion == "lower":
        return f"{'worse' if named else 'harms'}: {effect}"
    return f"no difference shown: {effect}; {_could_have_shown(found)}"


def _could_have_shown(found: Comparison) -> str:
    """Of n games, on fewer maps, or in more pairs where a game has several."""
    maps = f" on {found.maps} maps" if found.maps < found.games else ""
    several = f" with {found.pairs} pairs" if found.pairs > found.games else ""
    n = f"n = {found.games}" + " games" * bool(maps or several) + maps + several
    if found.smallest_shown is None:
        return f"{n} is too few to show any difference"
    return f"{n} could have shown {100 * found.smallest_shown:.0f} points"


def _p(p: float | None) -> str:
    if p is None:
        return "p unknown"
    if p < 0.001:
        return "p < 0.001"
    digits = 2 if p >= 0.1 else 3
    while round(p, digits) == LEVEL != p:
        digits += 1  # on which side of the level it is
    return f"p = {p:.{digits}f}"


def _of_missing(found: Comparison) -> str:
    if not found.missing or not found.pairs:
        return ""
    overturned = ", which could overturn this" if found.overturned_by_missing else ""
    asked = found.pairs + found.missing
    return (
        f"; {found.missing} of {asked} pairs have no result yet{overturned}: whatever they bring, "
        f"{span(found.of_asked)} points"
    )


def points(share: float) -> str:
    """In points of a hundred, with a sign: "+12"."""
    return f"{100 * share:+.0f}"


def span(interval: Interval) -> str:
    """In points. An end that is near 0 and not 0 has a decimal."""
    return " to ".join(map(_end, interval))


def _end(share: float) -> str:
    if share == 0 or round(100 * share) != 0:
        return f"{100 * share:.0f}"
    return f"{100 * share:.1f}" if abs(100 * share) >= 0.05 else f"{100 * share:.0e}"
