"""Comparisons as text: what was asked and found, tables, LaTeX, the terminal. Numbers come from
`comparisons`, sentences from `verdicts`."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from pddlego_local.report.comparisons import Compared, Comparison, Side
from pddlego_local.report.latex import booktabs
from pddlego_local.report.text import Text, with_common_first
from pddlego_local.report.transitions import Taken
from pddlego_local.report.verdicts import (
    answers,
    label_texts,
    percent_of,
    points,
    question,
    span,
    verdict,
)

MOST_ON_TOP = 12  # verdicts on a report's first screen, and on the terminal's
MOST_OTHERS = 40  # lines of what nobody asked


def answer_markdown(compared: Compared) -> str:
    """A report's first screen: what was asked, and each verdict in words, primary ones first."""
    told = answers(compared)
    lines = [
        f"- {'primary, ' * (one.role == 'primary')}{one.arms}{one.told_where}: {one.verdict}"
        for one in told[:MOST_ON_TOP]
    ]
    if not told:
        lines = ["- No two arms differ in what was asked alone, on the same games."]
    if len(told) > MOST_ON_TOP:
        lines.append(f"- … and {len(told) - MOST_ON_TOP} more: see the tables of comparisons")
    head = ["# What was asked, and what was found", "", question(compared), ""]
    return "\n".join([*head, *lines, ""])


def comparisons_markdown(compared: Compared) -> str:
    """What was tested, what else differs in one thing, and what a reader has to know; "" of none.
    What the lines of a table share stands above it."""
    tables = [
        ("Primary comparisons", [_line(c) for c in compared.tested if c.role == "primary"]),
        ("Comparisons", [_line(c) for c in compared.tested if c.role == "secondary"]),
        ("Other differences: nobody asked, and nothing is tested", _others(compared.others)),
    ]
    found = [*compared.tested, *compared.others]
    if not found:
        return ""
    told = "\n".join(
        f"## {title}\n\n{with_common_first(_told(rows))}" for title, rows in tables if rows
    )
    left = len(compared.others) - MOST_OTHERS
    more = f"{left} more of these differences are in comparisons.csv.\n" if left > 0 else ""
    notes = "".join(f"- {note}\n" for note in comparison_notes(compared))
    return "\n".join(filter(None, [told, more, notes]))


def comparison_notes(compared: Compared) -> list[str]:
    families = {one.role: one.family for one in compared.tested if one.family}
    told = " and, apart, ".join(f"the {count} {role}" for role, count in families.items())
    return [
        "Both arms play the same games. A pair is one game with one seed, as both played it: "
        "success after its last trial. Seeds of a game, and games with the same map, are one "
        "cluster. Points are success in percent, second arm less first.",
        f"{question(compared)} Holm's adjustment is over {told or 'no'} comparisons. A primary "
        "comparison is one that was declared as such; primary and secondary ones are a family "
        "each, of 5 %. Several kinds of games are one comparison, and their parts are not tested.",
        "A difference is shown if two tests refuse that there is none: the exact one that swaps "
        "the arms cluster by cluster (with one pair each, McNemar's exact test), and the score "
        "test; p is the larger of both. The interval is what they leave: of 95 %, or as strict as "
        "Holm's adjustment is there, and it leaves 0 out if and only if a difference is shown "
        "(Tango's score interval, widened to 0 where the exact test does not refuse it; pairs of a "
        "cluster count for less, by their design effect). comparisons.csv has that of 95 % too "
        "(`plain`).",
        "“No difference shown” does not say that there is none. What n could have shown: the "
        "smallest true difference that the tests find in four of five experiments, at the level of "
        "that comparison (exact power, Duffy 1984), if the arms disagree as often as they did.",
        "Cost per success: all that the compared games took in all their trials, lost ones too, by "
        "the games solved.",
        "Won by one alone: how the other arm ended those games, and in brackets the cause of most "
        "of its unusable answers.",
    ]


def _line(found: Comparison) -> Text:
    base, other = found.base, found.other
    return {
        **label_texts(found),
        "from": base.value,
        "to": other.value,
        "verdict": verdict(found),
        "games": _games(found),
        "success": f"{_percent(base)} → {_percent(other)}",
        "calls per success": _cost(base, other, "calls"),
        "sampled tokens per success": _cost(base, other, "sampled_tokens"),
        "won by the second alone": _taken(found.taken, "base"),
        "won by the first alone": _taken(found.taken, "other"),
    }


def _others(found: Sequence[Comparison]) -> list[Text]:
    return [
        {
            **label_texts(one),
            "from": one.base.value,
            "to": one.other.value,
            "points": "–" if one.difference is None else points(one.difference),
            "95 %": span(one.plain),
            "games": _games(one),
            "not alike": "; ".join(one.caveats),
        }
        for one in found[:MOST_OTHERS]
    ]


def comparisons_latex(compared: Compared) -> str:
    """What was tested."""
    return booktabs(_told([_in_print(one) for one in compared.tested]), "Comparisons")


def comparisons_on_screen(compared: Compared) -> Table:
    """What was asked, and the first verdicts."""
    told = answers(compared)
    left = len(told) - MOST_ON_TOP
    caption = f"{left} more comparisons: --out writes them all to report.md" if left > 0 else None
    screen = Table("comparison", "verdict", title=question(compared), caption=caption)
    for one in told[:MOST_ON_TOP]:
        screen.add_row(f"{one.arms}\n{one.where}".strip(), one.verdict)
    return screen


def _told(rows: Sequence[Text]) -> list[Text]:
    """Without columns that are empty."""
    told = [name for name in rows[0] if any(row[name].strip("–→ ") for row in rows)] if rows else []
    return [{name: row[name] for name in told} for row in rows]


def _in_print(found: Comparison) -> Text:
    line, smallest = _line(found), found.smallest_shown
    names = [*label_texts(found), "from", "to", "games", "success"]
    return {name: line[name] for name in names} | {
        "role": found.role,
        "difference": "–" if found.difference is None else points(found.difference),
        "interval": span(found.interval),
        "level": percent_of(found.level),
        "p (Holm)": "–" if found.p_holm is None else f"{found.p_holm:.3f}",
        "could show": "–" if smallest is None else f"{100 * smallest:.0f}",
        "no result": str(found.missing or ""),
        "not alike": "; ".join(found.caveats),
    }


def _games(found: Comparison) -> str:
    """For example "50 on 20 maps (150 pairs)"."""
    maps = f" on {found.maps} maps" if found.maps != found.games else ""
    return f"{found.games}{maps}" + f" ({found.pairs} pairs)" * (found.pairs != found.games)


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
