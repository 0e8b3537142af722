"""The first screen of a report, as Markdown and for the terminal: a line for each
tested comparison, how the episodes ended, and the games that one arm alone won.
`pages.site` shows the same as HTML.
"""

from collections.abc import Iterable

from rich.table import Table

from pddlego_local.report.bars import Axis, bar, common_axis, interval_bar
from pddlego_local.report.comparisons import Compared, Comparison
from pddlego_local.report.numbers import Numbers
from pddlego_local.report.pairs import Pair
from pddlego_local.report.text import (
    LABEL_COLUMNS,
    TextRow,
    bullets,
    cell_text,
    differs,
    markdown,
    percent,
    rendered,
)
from pddlego_local.report.verdicts import (
    Verdict,
    declared_in_words,
    history_in_words,
    points,
    span,
    verdicts,
)

MOST_ON_TOP = 12  # lines of comparisons


def verdicts_markdown(compared: Compared) -> str:
    """Returns the first screen of a report: a line for each tested comparison, then
    what is behind the verdicts.
    """
    found = verdicts(compared)
    axis = axis_of(compared)
    lines = [_line(verdict, compared, axis) for verdict in found[:MOST_ON_TOP]]
    return rendered(
        "verdicts",
        table=markdown(lines),
        declared=declared_in_words(compared),
        history=history_in_words(compared),
        verdicts=found,
        MOST=MOST_ON_TOP,
    )


def axis_of(compared: Compared) -> Axis:
    """Returns the axis on which all tested comparisons are drawn."""
    return common_axis(
        found.new.interval for found in compared.tested if found.difference is not None
    )


def _line(verdict: Verdict, compared: Compared, axis: Axis) -> TextRow:
    """Returns the line of a comparison: both rates, the difference with its interval,
    and the verdict.
    """
    found = compared.tested[verdict.number]
    title = f"primary, {verdict.title}" if verdict.role == "primary" else verdict.title
    line = {"comparison": title, "success": "–", "difference": "–"}
    if found.difference is not None:
        sides = [found.base.success.share or 0.0, found.other.success.share or 0.0]
        rates = [f"`{bar(share)}` {percent(share)}" for share in sides]
        drawn = interval_bar(found.difference, found.new.interval, axis)
        line["success"] = " → ".join(rates)
        line["difference"] = f"`{drawn}` {difference(found)}"
    return {**line, "verdict": f"**{verdict.word}**"}


def difference(found: Comparison) -> str:
    """For example "+27 points (3 to 50)"; "–" without pairs."""
    if found.difference is None:
        return "–"
    return f"{points(found.difference)} points ({span(found.new.interval)})"


def ended_markdown(numbers: Numbers) -> str:
    """Returns a section that says how the episodes of each arm ended."""
    rows = [cell_text(cell) for cell in numbers.cells]
    names = [name for name in LABEL_COLUMNS if differs(rows, name)] or ["model"]
    shown = [
        {**{name: row[name] for name in names}, "how episodes ended": row["outcomes"]}
        for row in rows
    ]
    return f"# How episodes ended\n\n{markdown(shown)}"


def alone_markdown(compared: Compared) -> str:
    """Returns a section with the games that one arm won and the other lost; "" if
    nothing is compared.
    """
    found = verdicts(compared)
    if not found:
        return ""
    lines = []
    for verdict in found:
        comparison = compared.tested[verdict.number]
        lines.append(f"{verdict.title}: {won_alone(comparison)}")
    heading = "# Games that one arm won and the other lost"
    return f"{heading}\n\n{bullets(lines)}"


def won_alone(found: Comparison) -> str:
    """For example "2 won by typed alone (games 4, 7), 0 by free alone, …"."""
    by_base, by_other, by_both, by_neither = found.won_by
    of_base = _games_of(pair for pair in found.discordant if pair.base_won)
    of_other = _games_of(pair for pair in found.discordant if not pair.base_won)
    return (
        f"{by_other} won by {found.other.value} alone{of_other}, {by_base} by"
        f" {found.base.value} alone{of_base}, {by_both} by both, {by_neither} by"
        " neither"
    )


def _games_of(pairs: Iterable[Pair]) -> str:
    """For example " (games 4, 7)"; "" for none."""
    games = sorted({pair.game[1] for pair in pairs})
    if not games:
        return ""
    noun = "game" if len(games) == 1 else "games"
    return f" ({noun} {', '.join(map(str, games))})"


def comparisons_on_screen(compared: Compared) -> Table:
    """Returns a table with a line for each of the first verdicts, and the tested
    comparisons as its title.
    """
    found = verdicts(compared)
    left = len(found) - MOST_ON_TOP
    axis = axis_of(compared)
    title = declared_in_words(compared)
    names = ("comparison", "success", "difference", "verdict")
    table = Table(*names, title=title, show_lines=True)
    table.caption = "--out writes the tests behind each verdict to report.md"
    if left > 0:
        table.caption += f", and {left} more comparisons"
    for verdict in found[:MOST_ON_TOP]:
        line = _line(verdict, compared, axis)
        line["success"] = line["success"].replace(" → ", "\n")
        line["difference"] = line["difference"].replace("` ", "\n")
        table.add_row(*(text.strip("*").replace("`", "") for text in line.values()))
    return table
