"""Comparisons as tables: Markdown, LaTeX, the terminal. Numbers come from `comparisons`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from rich.table import Table

from pddlego_local.report.arms import RUNG
from pddlego_local.report.comparisons import Comparison, Side, Taken
from pddlego_local.report.latex import booktabs
from pddlego_local.report.text import Text, with_common_first
from pddlego_local.report.verdicts import points, span, verdict

ON_SCREEN = 12  # lines
IN_PRINT = ("from", "to", "games", "success", "difference", "95 %", "p (Holm)", "could show")


def comparisons_markdown(found: Sequence[Comparison]) -> str:
    """A table for each question, and what a reader has to know; "" of none."""
    if not found:
        return ""
    labels = {name for one in found for name in _labels(one)}
    tables = "\n".join(
        f"### {title}\n\n{with_common_first(rows, labels)}"
        for title, rows in _sections(found, comparison_text)
    )
    notes = "".join(f"- {note}\n" for note in comparison_notes(found))
    return f"## Comparisons\n\n{tables}\n{notes}"


def comparison_notes(found: Sequence[Comparison]) -> list[str]:
    return [
        "Both arms play the same games; a pair is one episode of each, of the same game, seed and "
        "trial. Points are success in percent, second arm less first, with an interval of 95 % "
        "(Tango's score interval; several pairs of a game count for less, by their design effect).",
        "p: exact permutation test that swaps the arms game by game; with one pair a game it is "
        "McNemar's exact test. Holm's adjustment is over the "
        f"{max(one.family for one in found)} comparisons that are printed here; one question that "
        "was chosen before looking at the results has fewer (--compare decoding.rung=free).",
        "“No difference shown” does not say that there is none. What n could have shown: the "
        "smallest true difference that the test finds in four of five experiments, at 5 % and "
        "before Holm (exact power, Duffy 1984), if the arms disagree as often as they did.",
        "Cost per success: all that the compared episodes took, lost ones too, by the successes. "
        "Seconds are wall time, with other episodes running beside.",
        "Won by one alone: how the other arm ended those games, and in brackets the cause of most "
        "of its unusable answers.",
    ]


def comparison_text(found: Comparison) -> Text:
    """One line of a table."""
    base, other = found.base, found.other
    return {
        **_labels(found),
        "from": base.value,
        "to": other.value,
        "verdict": verdict(found),
        "games": _games(found),
        "success": f"{_percent(base)} → {_percent(other)}",
        "calls per success": _cost(base, other, "calls"),
        "sampled tokens per success": _cost(base, other, "sampled_tokens"),
        "wall s per success": _cost(base, other, "wall_time_s"),
        "won by the second alone": _taken(found.taken, "base"),
        "won by the first alone": _taken(found.taken, "other"),
    }


def comparisons_latex(found: Sequence[Comparison]) -> str:
    """A tabular for each question."""
    sections = _sections(found, _in_print)
    return "\n".join(booktabs(rows, title) for title, rows in sections)


def comparisons_on_screen(found: Sequence[Comparison]) -> Table:
    """The first lines, with only the labels that tell them apart."""
    labels = [_labels(one) for one in found]
    apart = [name for name in labels[0] if len({row[name] for row in labels}) > 1]
    left = len(found) - ON_SCREEN
    caption = f"{left} more comparisons: --out writes them all to report.md" if left > 0 else None
    screen = Table("comparison", "verdict", title="Paired by game", caption=caption)
    for one, row in list(zip(found, labels, strict=True))[:ON_SCREEN]:
        where = " ".join(row[name] for name in apart if row[name])
        screen.add_row(f"{one.base.value} → {one.other.value}\n{where}".strip(), verdict(one))
    return screen


def _sections(
    found: Sequence[Comparison], line: Callable[[Comparison], Text]
) -> Iterable[tuple[str, list[Text]]]:
    """By question, in the order in which they come; columns that are empty are left out."""
    for title, together in groupby(found, _title):
        rows = [line(one) for one in together]
        told = [name for name in rows[0] if any(row[name].strip("–→ ") for row in rows)]
        yield title, [{name: row[name] for name in told} for row in rows]


def _title(found: Comparison) -> str:
    if found.factor == RUNG:
        constrained = found.base.value == "free"
        return "Constrained against free" if constrained else "One rung against another"
    return found.factor


def _labels(found: Comparison) -> Text:
    labels: Mapping[str, str] = found.labels
    return {**labels, "pooled": found.pooled}


def _in_print(found: Comparison) -> Text:
    difference, smallest = found.difference, found.smallest_shown
    text = comparison_text(found) | {
        "difference": "–" if difference is None else points(difference),
        "95 %": span(found.interval),
        "p (Holm)": "–" if found.p_holm is None else f"{found.p_holm:.3f}",
        "could show": "–" if smallest is None else f"{100 * smallest:.0f}",
        "not alike": "; ".join(found.caveats),
        "no result": str(found.missing or ""),
    }
    columns = [*_labels(found), *IN_PRINT, "no result", "not alike"]
    return {column: text[column] for column in columns}


def _games(found: Comparison) -> str:
    return str(found.games) + (f" ({found.pairs} pairs)" if found.pairs != found.games else "")


def _percent(side: Side) -> str:
    share = side.success.share
    return "–" if share is None else f"{100 * share:.1f} %"


def _cost(base: Side, other: Side, name: str) -> str:
    return " → ".join(
        "–" if (value := getattr(side.per_success, name)) is None else f"{value:.1f}"
        for side in (base, other)
    )


def _taken(taken: Iterable[Taken], lost_by: str) -> str:
    return (
        ", ".join(
            f"{one.outcome}{f' ({one.cause})' if one.cause else ''} {one.pairs}"
            for one in taken
            if one.lost_by == lost_by
        )
        or "–"
    )
