"""The parts that several pages have: names of arms, columns of tables, and verdicts in
lines.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from pddlego_local.core.grouping import grouped
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.comparisons import Compared, Comparison
from pddlego_local.report.measures import measure
from pddlego_local.report.numbers import tries_used_up
from pddlego_local.report.outcomes import achieves
from pddlego_local.report.text import markdown
from pddlego_local.report.verdicts import conclusion, in_short, points
from pddlego_local.runner.settings import Outcome
from tools.pages.records import scored

Column = Callable[[CellRecord], str]


def arm_name(cell: CellRecord) -> str:
    """Returns the name of an arm as the report has it, and the options that set it
    apart.
    """
    decoding = cell.run.identity["decoding"]
    name = str(cell.labels["decoding"])
    if decoding["rung"] not in ("free", "json"):
        if decoding["layout"] == "any":
            name += ", any layout"
        if decoding.get("lists") == "tight":
            name += ", tight lists"
        if not decoding.get("rollback", True):
            name += ", without rollback"
    if decoding["best_of"] > 1:
        name += f", best of {decoding['best_of']}"
    return name


def by_arm(cells: Iterable[CellRecord]) -> dict[str, list[CellRecord]]:
    """Returns the cells of each arm, by its name."""
    return grouped((arm_name(cell), cell) for cell in cells)


def times_asked_again(cell: CellRecord) -> int:
    """Returns how often the cell's method asks again after an answer without a plan."""
    method = cell.run.identity["method"]
    return int(method.get("rounds", 0) or method.get("max_retries", 0))


def table(rows: Iterable[Mapping[str, str]]) -> str:
    """Returns a Markdown table. All rows have the same columns."""
    return markdown([dict(row) for row in rows])


def total(cell: CellRecord, name: str) -> int:
    """Returns the sum of a count over the scored rows."""
    return sum(getattr(row, name) for row in scored(cell))


def won(cell: CellRecord) -> int:
    return total(cell, "won")


def reached(cells: Iterable[CellRecord], outcome: Outcome) -> int:
    """Returns the number of scored episodes that have the outcome."""
    return sum(achieves(row, outcome) for cell in cells for row in scored(cell))


def wins(cells: Iterable[CellRecord], outcome: Outcome) -> int:
    """Returns the number of scored episodes with the outcome that counts as a win.
    "success" is by the game's own rule, and not by that of the papers.
    """
    if outcome == "success":
        return sum(map(won, cells))
    return reached(cells, outcome)


def games_won(*cells: CellRecord) -> str:
    """For example "12 of 40": games won of all these cells."""
    games = sum(len(scored(cell)) for cell in cells)
    return f"{sum(map(won, cells))} of {games}"


def share_won(cell: CellRecord) -> str:
    return percent(won(cell), len(scored(cell)))


def answers_with_a_plan(cell: CellRecord) -> str:
    """The share of answers whose files the planner solved; the goal was not true
    already.
    """
    solved = sum(row.causes.get("solved", 0) for row in scored(cell))
    return percent(solved, total(cell, "calls"))


def ended_as(outcome: str) -> Column:
    """Returns a column with the share of games that ended in this way."""

    def share(cell: CellRecord) -> str:
        rows = scored(cell)
        return percent(sum(row.outcome == outcome for row in rows), len(rows))

    return share


def answers_per_game(cell: CellRecord) -> str:
    return f"{fmean(row.calls for row in scored(cell)):.1f}"


def tokens_per_answer(cell: CellRecord) -> str:
    asked = total(cell, "calls")
    if not asked:
        return "–"
    return f"{total(cell, 'completion_tokens') / asked:.0f}"


def tokens_per_game(cell: CellRecord) -> str:
    return f"{total(cell, 'completion_tokens') / len(scored(cell)):,.0f}"


def prompt_tokens_per_game(cell: CellRecord) -> str:
    return f"{total(cell, 'prompt_tokens') / len(scored(cell)):,.0f}"


def tokens_per_win(cell: CellRecord) -> str:
    """All tokens of answers, also of lost games, divided by the number of games won."""
    games = won(cell)
    if not games:
        return "–"
    return f"{total(cell, 'completion_tokens') / games:,.0f}"


def all_tries_rejected(cell: CellRecord) -> str:
    """For example "68 of 259 (in 68 games)": answers for which rejection ran out of
    tries.
    """
    answers, games = tries_used_up(cell, scored(cell))
    if not answers.n:
        return ""
    return f"{answers.k} of {answers.n} (in {games.k} games)"


def stages_reached(cells: Iterable[CellRecord]) -> dict[str, str]:
    """Returns how many answers to described worlds were read, accepted, had a plan, and
    so on.
    """
    found = measure(*map(scored, cells))
    return {
        "read": str(found.read.k),
        "accepted": str(found.accepted.k),
        "with a plan": str(found.has_plan.k),
        "valid plan": str(found.success.k),
        "right file": str(found.equivalent.k),
        "worlds": str(found.success.n),
    }


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def verdict_lines(
    found: Compared,
    names: Mapping[str, str] | None = None,
    where: Sequence[str] = (),
) -> str:
    """Returns a list with a line for each declared comparison, primary ones first, and
    below it what the declaration says of results that had been seen.

    `names` are names of arms for values of the factor, such as {"repair none": "free"}.
    `where` has the labels that tell the comparisons apart, such as "model".
    """
    lines = [f"- {_line(tested, names or {}, where)}" for tested in found.tested]
    lines += [f"\n{sentence}" for sentence in found.known_before]
    return "\n".join(lines)


def _line(found: Comparison, names: Mapping[str, str], where: Sequence[str]) -> str:
    base = f"`{short_name(found.base.value, names)}`"
    other = f"`{short_name(found.other.value, names)}`"
    line = "primary, " if found.role == "primary" else ""
    line += "".join(f"{found.labels[label]}, " for label in where)
    line += f"{base} → {other}: "
    here, new = in_short(found, found.here), in_short(found, found.new)
    if found.smallest_shown is None and found.difference is not None:
        return (
            f"{line}**{points(found.difference)} points**. The maps are too few for"
            f" any test about new ones. For new games on these maps: {here}."
        )
    line += f"**{new}**. {conclusion(found, base, other)}"
    if found.maps < found.games and here != new:
        line += f" For new games on these maps: {here}."
    return line


def short_name(value: str, names: Mapping[str, str]) -> str:
    """Returns a value of a factor without the options that come with it: "grounded" for
    "grounded, layout line".
    """
    return names.get(value, value.partition(",")[0])
