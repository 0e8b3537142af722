"""The parts that several pages have: names of arms, columns of tables, and verdicts in
lines.
"""

from collections.abc import Callable, Iterable, Mapping
from statistics import fmean

from pddlego_local.report.cells import CellRecord
from pddlego_local.report.comparisons import Compared, Comparison
from pddlego_local.report.numbers import measure, tries_used_up
from pddlego_local.report.text import markdown
from pddlego_local.report.verdicts import conclusion, in_short, points
from tools.pages.records import scored

Column = Callable[[CellRecord], str]


def arm_name(cell: CellRecord) -> str:
    """Returns the name of an arm as the report has it, and the options that set it
    apart.
    """
    asked = cell.run.identity["decoding"]
    name = str(cell.labels["decoding"])
    constrained = asked["rung"] not in ("free", "json")
    apart = {
        ", any layout": constrained and asked["layout"] == "any",
        ", tight lists": constrained and asked.get("lists") == "tight",
        ", without rollback": not asked.get("rollback", True),
    }
    name += "".join(words for words, applies in apart.items() if applies)
    best_of = asked.get("best_of") or 1
    return f"{name}, best of {best_of}" if best_of > 1 else name


def table(rows: Iterable[Mapping[str, str]]) -> str:
    """Returns a Markdown table. All rows have the same columns."""
    return markdown([dict(row) for row in rows])


def total(cell: CellRecord, name: str) -> int:
    """Returns the sum of a count over the scored rows."""
    return sum(getattr(row, name) for row in scored(cell))


def games_won(cell: CellRecord) -> str:
    return f"{total(cell, 'won')} of {len(scored(cell))}"


def share_won(cell: CellRecord) -> str:
    return percent(total(cell, "won"), len(scored(cell)))


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
    return f"{total(cell, 'completion_tokens') / asked:.0f}" if asked else "–"


def tokens_per_game(cell: CellRecord) -> str:
    return f"{total(cell, 'completion_tokens') / len(scored(cell)):,.0f}"


def prompt_tokens_per_game(cell: CellRecord) -> str:
    return f"{total(cell, 'prompt_tokens') / len(scored(cell)):,.0f}"


def tokens_per_win(cell: CellRecord) -> str:
    """All tokens of answers, also of lost games, divided by the number of games won."""
    won = total(cell, "won")
    return f"{total(cell, 'completion_tokens') / won:,.0f}" if won else "–"


def all_tries_rejected(cell: CellRecord) -> str:
    """For example "68 of 259 (in 68 games)": answers for which rejection ran out of
    tries.
    """
    answers, games = tries_used_up(cell, scored(cell))
    return f"{answers.k} of {answers.n} (in {games.k} games)" if answers.n else ""


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
    found: Compared, names: Mapping[str, str] | None = None, where: str = ""
) -> str:
    """Returns a list with a line for each declared comparison, primary ones first, and
    below it what the declaration says of results that had been seen.

    `names` are names of arms for values of the factor, such as {"repair none": "free"}.
    `where` is the label that tells the comparisons apart, such as "model".
    """
    lines = [f"- {_line(one, names or {}, where)}" for one in found.tested]
    return "\n".join([*lines, *(f"\n{sentence}" for sentence in found.known_before)])


def _line(found: Comparison, names: Mapping[str, str], where: str) -> str:
    base, other = (short_name(side.value, names) for side in (found.base, found.other))
    role = "primary, " if found.role == "primary" else ""
    place = f"{found.labels[where]}, " if where else ""
    here = in_short(found, found.here)
    if found.smallest_shown is None and found.difference is not None:
        difference = f"**{points(found.difference)} points**"
        return (
            f"{role}{place}`{base}` → `{other}`: {difference}. The maps are too few for"
            f" any test about new ones. For new games on these maps: {here}."
        )
    said = f"{role}{place}`{base}` → `{other}`: **{in_short(found, found.new)}**."
    concluded = conclusion(found, f"`{base}`", f"`{other}`")
    if found.maps < found.games and here != in_short(found, found.new):
        return f"{said} {concluded} For new games on these maps: {here}."
    return f"{said} {concluded}"


def short_name(value: str, names: Mapping[str, str]) -> str:
    """Returns a value of a factor without the options that come with it: "grounded" for
    "grounded, layout line".
    """
    return names.get(value, value.partition(",")[0])
