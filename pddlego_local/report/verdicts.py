"""What a comparison says, in words that cannot be read for more than was shown."""

from pddlego_local.report.comparisons import Comparison, Interval

NAMED = {"method", "model"}
"""Factors of which neither value is a help: the second is better or worse than the first."""


def verdict(found: Comparison) -> str:
    """One sentence. For example "helps: +12 points (3 to 21), p = 0.004 after Holm", or "no
    difference shown: +3 points (-5 to 11), p = 0.62 after Holm; n = 30 could have shown 25 points".
    """
    unlike = f"not like with like ({'; '.join(found.caveats)}): " if found.caveats else ""
    return unlike + _finding(found) + _of_missing(found)


def _finding(found: Comparison) -> str:
    if found.difference is None and not found.missing:
        return "nothing to compare: no game, seed and trial that counts was asked of both"
    if found.difference is None:
        return f"nothing to compare yet: none of {found.missing} pairs has both results"
    effect = f"{points(found.difference)} points ({span(found.interval)}), {_p_values(found)}"
    named = found.factor in NAMED
    if found.conclusion == "higher":
        return f"{'better' if named else 'helps'}: {effect}"
    if found.conclusion == "lower":
        return f"{'worse' if named else 'harms'}: {effect}"
    return f"no difference shown: {effect}; {could_have_shown(found)}"


def could_have_shown(found: Comparison) -> str:
    """Of n games, or pairs where a game has several."""
    several = f" games with {found.pairs} pairs" if found.pairs > found.games else ""
    n = f"n = {found.games}{several}"
    if found.smallest_shown is None:
        return f"{n} is too few to show any difference"
    return f"{n} could have shown {100 * found.smallest_shown:.0f} points"


def _p_values(found: Comparison) -> str:
    alone = f", {_p(found.p)} alone" if found.conclusion == "not shown" and _low(found.p) else ""
    return f"{_p(found.p_holm)} after Holm{alone}"


def _low(p: float | None) -> bool:
    return p is not None and p < 0.05


def _p(p: float | None) -> str:
    if p is None:
        return "p unknown"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


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
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f}"
