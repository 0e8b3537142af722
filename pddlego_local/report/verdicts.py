"""Renders comparisons as verdicts in words that claim no more than was shown, and as
Markdown tables with notes.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from pddlego_local.core.grouping import grouped
from pddlego_local.report.comparisons import Answer, Compared, Comparison, Side
from pddlego_local.report.contrasts import Role
from pddlego_local.report.outcomes import WINS
from pddlego_local.report.statistics.rates import LEVEL, Interval
from pddlego_local.report.text import (
    TextRow,
    amount,
    bullets,
    differs,
    notes_of,
    number,
    percent,
    with_common_first,
    without_empty,
)

MOST_OTHERS = 40  # lines of undeclared comparisons
SMALL = 0.1  # an interval within ±SMALL says how large a difference is at most


@dataclass(frozen=True)
class Verdict:
    """The verdict on the tested comparison with this number.

    `arms` is for example "free → grounded". `where` distinguishes this comparison from
    the others, for example "nano, pddlego_plus". `word` is the verdict, for example
    "too few to tell", and `text` has the sentences behind it.
    """

    number: int
    role: Role
    arms: str
    where: str
    word: str
    text: str
    shown: bool

    @property
    def title(self) -> str:
        if not self.where:
            return self.arms
        return f"{self.arms} ({self.where})"


def declared_in_words(compared: Compared) -> str:
    """Says which comparisons are tested, where they were declared, and which ones find
    no arms.
    """
    tested = [
        f"{declared} (primary)" if declared.primary else str(declared)
        for declared in compared.declared
    ]
    listed = "; ".join(tested) or "none"
    words = f"Tested comparisons ({compared.origin}): {listed}."
    if compared.history and compared.without_arms:
        without = "; ".join(map(str, compared.without_arms))
        words += f" This report has no two arms for: {without}."
    return words


def history_in_words(compared: Compared) -> str:
    """Says at which commit the comparisons were declared; "" if nothing was
    declared.
    """
    return " ".join(compared.history)


def verdicts(compared: Compared) -> list[Verdict]:
    """Returns a verdict for each tested comparison: primary ones first, and within each
    role those that show a difference first.
    """
    if not compared.tested:
        return []
    labels = [shared(found) for found in compared.tested]
    differing = [name for name in labels[0] if differs(labels, name)]
    verdicts = []
    for place, found in enumerate(compared.tested):
        where = [labels[place][name] for name in differing]
        verdicts.append(
            Verdict(
                number=place,
                role=found.role,
                arms=f"{found.base.value} → {found.other.value}",
                where=", ".join(filter(None, where)),
                word=word(found),
                text=verdict(found),
                shown=found.new.shown,
            )
        )
    return sorted(verdicts, key=lambda verdict: (verdict.role, not verdict.shown))


def shared(found: Comparison) -> dict[str, str]:
    """Returns what both arms have in common, by name."""
    return {**found.labels, "pooled": found.pooled}


def verdict(found: Comparison) -> str:
    """Returns the sentences of a verdict: the conclusion, the rates, the difference,
    then the interval and the test for each question, and the consequence for new games.
    """
    concluded = conclusion(found, found.base.value, found.other.value)
    words = {
        "points": points,
        "span": span,
        "p": _p,
        "percent": _percent,
        "concluded": concluded,
        "wins_if": WINS[found.outcome],
    }
    sentences = notes_of("verdict", found=found, LEVEL=LEVEL, **words)
    return " ".join(filter(None, sentences))


def word(found: Comparison) -> str:
    """Returns the first of these verdicts that applies: "shown", "as good within ±N
    points" of a declared margin, "at most N points", "too few to tell".
    """
    if found.new.shown:
        return "shown"
    if found.as_good:
        return f"as good within ±{found.margin_points:g} points"
    largest = max(map(abs, found.new.interval))
    if largest <= SMALL:
        most = ceil(round(100 * largest, 6))
        return f"at most {amount(most, 'point')}"
    return "too few to tell"


def conclusion(found: Comparison, base: str, other: str) -> str:
    """Returns the sentences that a verdict begins with. `base` and `other` are names of
    the arms.
    """
    if found.difference is None:
        return ""
    more = "more" if found.difference > 0 else "fewer"
    wins = f"{other} wins {more} games than {base}"
    said = word(found)
    if said == "shown" and found.share_maps:
        return f"Shown: {wins}, on new maps too."
    if said == "shown":
        return f"Shown: {wins}."
    begins = f"{said.capitalize()}: no difference is shown"
    if found.here.shown:
        begins = f"{said.capitalize()} for new maps: on these maps {wins}"
    if said == "too few to tell":
        largest = max(map(abs, found.new.interval))
        return (
            f"{begins}, and differences of up to {100 * largest:.0f} points are not"
            " excluded."
        )
    return f"{begins}, and larger ones are excluded."


def in_short(found: Comparison, answer: Answer) -> str:
    """For example "+3 points (-8 to 14 at 99 %), p = 0.62 after Holm over 5"."""
    if found.difference is None:
        return "–"
    interval = span(answer.interval)
    if answer.level < LEVEL:
        interval += f" at {_percent(1 - answer.level)}"
    p = _p(answer.p_holm)
    if found.family > 1:
        p += f" after Holm over {found.family}"
    return f"{points(found.difference)} points ({interval}), {p}"


def _p(p: float | None) -> str:
    if p is None:
        return "p unknown"
    if p < 0.001:
        return "p < 0.001"
    digits = 2 if p >= 0.1 else 3
    while round(p, digits) == LEVEL != p:
        digits += 1  # to show on which side of the level it is
    return f"p = {p:.{digits}f}"


def points(share: float) -> str:
    """In percentage points, with a sign: "+12"."""
    return f"{100 * share:+.0f}"


def span(interval: Interval) -> str:
    """In percentage points. An end that is near 0 but not 0 has a decimal."""
    return " to ".join(map(_end, interval))


def _end(share: float) -> str:
    points = 100 * share
    if points == 0 or round(points) != 0:
        return f"{points:.0f}"
    return np.format_float_positional(points, precision=1, fractional=False, trim="-")


def comparisons_markdown(compared: Compared) -> str:
    """Returns tables of the tested comparisons and of the other arms that differ in one
    factor, and notes that explain them; "" if there is nothing to compare.
    """
    if not compared.tested and not compared.others:
        return ""
    rows = grouped((found.role, _tested(found)) for found in compared.tested)
    others = [_other(found) for found in compared.others[:MOST_OTHERS]]
    tables = {
        "Primary comparisons": rows.get("primary"),
        "Comparisons": rows.get("secondary"),
        "Other differences, not declared and not tested": others,
    }
    parts = [
        f"## {title}\n\n{with_common_first(without_empty(rows))}"
        for title, rows in tables.items()
        if rows
    ]
    left = len(compared.others) - len(others)
    if left:
        parts.append(f"comparisons.csv has {left} more of these differences.\n")
    counts = {found.role: found.family for found in compared.tested if found.family}
    declared = declared_in_words(compared)
    notes = notes_of("comparisons", counts=counts, declared=declared)
    parts.append(bullets(notes))
    return "\n".join(parts)


def _tested(found: Comparison) -> TextRow:
    base = _side(found.base)
    other = _side(found.other)
    both = {name: f"{base[name]} → {other[name]}" for name in base}
    return {
        **shared(found),
        "from": found.base.value,
        "to": found.other.value,
        "on these maps": in_short(found, found.here) if found.share_maps else "–",
        "on new maps": in_short(found, found.new),
        "games": _games(found),
        **both,
    }


def _side(side: Side) -> TextRow:
    share = side.success.share
    return {
        "success": "–" if share is None else percent(share),
        "calls per success": number(side.per_success_calls),
        "tokens of answers per success": number(side.per_success_tokens),
        "tokens of prompts per success": number(side.per_success_prompt_tokens),
    }


def _other(found: Comparison) -> TextRow:
    return {
        **shared(found),
        "from": found.base.value,
        "to": found.other.value,
        "points": "–" if found.difference is None else points(found.difference),
        "95 %": span(found.plain),
        "games": _games(found),
        "caveats": "; ".join(found.caveats),
    }


def _games(found: Comparison) -> str:
    """For example "50 on 20 maps (150 pairs)"."""
    words = str(found.games)
    if found.maps != found.games:
        words += f" on {amount(found.maps, 'map')}"
    if found.pairs != found.games:
        words += f" ({amount(found.pairs, 'pair')})"
    return words


def _percent(share: float) -> str:
    """With at most four significant digits: "99.44 %"."""
    return f"{100 * share:.4g} %"
