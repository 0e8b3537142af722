"""Comparisons as Markdown and on the terminal: what was asked and found, and tables with notes.
Numbers come from `comparisons`, sentences from `verdicts`."""

from rich.table import Table

from pddlego_local.report.comparisons import Compared, Comparison
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.text import TextRow, number, with_common_first, without_empty
from pddlego_local.report.verdicts import declared_in_words, points, shared, span, verdict, verdicts

MOST_ON_TOP = 12  # verdicts on a report's first screen, and on the terminal's
MOST_OTHERS = 40  # lines of what nobody asked


def verdicts_markdown(compared: Compared) -> str:
    """A report's first screen: what was asked, and each verdict in words, primary ones first."""
    found = verdicts(compared)
    lines = [
        f"- {'primary, ' * (one.role == 'primary')}{one.title}: {one.text}"
        for one in found[:MOST_ON_TOP]
    ]
    if not found:
        lines = ["- No two arms differ in what was asked alone, on the same games."]
    if len(found) > MOST_ON_TOP:
        lines.append(f"- … and {len(found) - MOST_ON_TOP} more: see the tables of comparisons")
    head = ["# What was asked, and what was found", "", declared_in_words(compared), ""]
    return "\n".join([*head, *lines, ""])


def comparisons_markdown(compared: Compared) -> str:
    """What was tested, what else differs in one factor, and what a reader has to know; "" where
    there is nothing to compare."""
    if not compared.tested and not compared.others:
        return ""
    tables = {
        "Primary comparisons": [_tested(one) for one in compared.tested if one.role == "primary"],
        "Comparisons": [_tested(one) for one in compared.tested if one.role == "secondary"],
        "Other differences: nobody asked, and nothing is tested": [
            _other(one) for one in compared.others[:MOST_OTHERS]
        ],
    }
    parts = [
        f"## {title}\n\n{with_common_first(without_empty(rows))}"
        for title, rows in tables.items()
        if rows
    ]
    if (left := len(compared.others) - MOST_OTHERS) > 0:
        parts.append(f"{left} more of these differences are in comparisons.csv.\n")
    parts.append("".join(f"- {note}\n" for note in _notes(compared)))
    return "\n".join(parts)


def _notes(compared: Compared) -> list[str]:
    families = {one.role: one.family for one in compared.tested if one.family}
    counts = " and, apart, ".join(f"the {count} {role}" for role, count in families.items())
    return [
        "Both arms play the same games. A pair is one game with one seed, as both played it: "
        "success after its last trial. Seeds of a game, and games with the same map, are one "
        "cluster. Points are success in percent, second arm less first.",
        f"{declared_in_words(compared)} Holm's adjustment is over {counts or 'no'} comparisons. A "
        "primary comparison is one that was declared as such; primary and secondary ones are a "
        "family each, of 5 %. Several kinds of games are one comparison, and their parts are not "
        "tested.",
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
    ]


def _tested(found: Comparison) -> TextRow:
    sides = found.base, found.other
    return {
        **shared(found),
        "from": found.base.value,
        "to": found.other.value,
        "verdict": verdict(found),
        "games": _games(found),
        "success": " → ".join(_percent(side.success) for side in sides),
        "calls per success": " → ".join(number(side.per_success_calls) for side in sides),
        "sampled tokens per success": " → ".join(
            number(side.per_success_sampled_tokens) for side in sides
        ),
    }


def _other(found: Comparison) -> TextRow:
    return {
        **shared(found),
        "from": found.base.value,
        "to": found.other.value,
        "points": "–" if found.difference is None else points(found.difference),
        "95 %": span(found.plain),
        "games": _games(found),
        "not alike": "; ".join(found.caveats),
    }


def comparisons_on_screen(compared: Compared) -> Table:
    """What was asked, and the first verdicts."""
    found = verdicts(compared)
    left = len(found) - MOST_ON_TOP
    caption = f"{left} more comparisons: --out writes them all to report.md" if left > 0 else None
    table = Table("comparison", "verdict", title=declared_in_words(compared), caption=caption)
    for one in found[:MOST_ON_TOP]:
        table.add_row(f"{one.arms}\n{one.where}".strip(), one.text)
    return table


def _games(found: Comparison) -> str:
    """For example "50 on 20 maps (150 pairs)"."""
    maps = f" on {found.maps} maps" if found.maps != found.games else ""
    return f"{found.games}{maps}" + f" ({found.pairs} pairs)" * (found.pairs != found.games)


def _percent(success: Rate) -> str:
    return "–" if success.share is None else f"{100 * success.share:.1f} %"
