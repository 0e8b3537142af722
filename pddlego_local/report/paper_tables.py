"""The papers' tables in Markdown: our cells, then the papers' own numbers."""

from collections.abc import Callable, Sequence

from pddlego_local.report.cells import by_number
from pddlego_local.report.papers import COMPACT, Result, comparable, titles
from pddlego_local.report.text import TextRow, interval, markdown, number, without_empty

WHOSE = ("source", "environment", "games", "budget", "model", "decoding")
NOTES = (
    "“here” are our runs. The other rows are what their source says; nothing adds the two up, and "
    "no test compares them: models, seeds and, where they differ, games and budgets are others.",
    "Trivial games (solved at reset) are counted in our rows beside PDDLego, as it counts them, "
    "and left out beside the others: PDDLego+'s models played them and lost some, so the 19 in its "
    "tables are no free wins. “Without trivial games” is what its records show of the others.",
    "Our rates have a Wilson interval of 95 %, of several trials or seeds one of games. A range "
    "without brackets goes from the lowest to the highest of several reported runs.",
    "Fixed: of the errors before. Steps and actions are means per episode.",
)


def papers_markdown(results: Sequence[Result]) -> str:
    """The whole file; "" where no cell has anything that the papers report."""
    tables = [f"## {title}\n\n{markdown(rows)}" for title, rows in _tables(results)]
    notes = "".join(f"- {note}\n" for note in (*NOTES, *titles(results)))
    return "\n".join(["# As the papers report it\n", *tables, notes]) if tables else ""


def _tables(results: Sequence[Result]) -> list[tuple[str, list[TextRow]]]:
    main = [one for one in results if _main(one) and not one.group and not one.domain]
    by_group = [one for one in results if _main(one) and one.group and not one.domain]
    by_variant = [one for one in results if one.variant and not one.group and not one.domain]
    by_domain = [one for one in results if _main(one) and not one.group]
    tables = [
        ("Success by method and model", _pivot(main, lambda one: one.method)),
        ("Errors, and how many were fixed", _rows(main, _errors)),
        ("Steps and actions", _rows(main, _steps)),
        ("Difficulty", _pivot(by_group, lambda one: one.group, apart=2)),
        ("What the prompt tells of goals", _pivot(by_variant, lambda one: one.variant, apart=2)),
        ("A domain that won before, held fixed", _pivot(by_domain, _domain, apart=2)),
    ]
    return [(title, rows) for title, rows in tables if rows]


def _main(result: Result) -> bool:
    """With the prompts of the papers' main tables; `compact` says the same in fewer words."""
    return not result.variant or (result.ours and result.variant in ("detailed", COMPACT))


def _domain(result: Result) -> str:
    return f"domain {result.domain or 'written'}"


def _pivot(
    results: Sequence[Result], column: Callable[[Result], str], apart: int = 1
) -> list[TextRow]:
    """Success, a column for each value. None where our cells have fewer values than `apart`."""
    ours = {column(one) for one in results if one.ours}
    if len(ours) < apart:
        return []
    shown = comparable(results)
    columns = sorted({column(one) for one in shown}, key=by_number)
    with_method = column(shown[0]) != shown[0].method
    rows: dict[tuple[str, ...], TextRow] = {}
    for one in shown:
        whose = _whose(one) | ({"method": one.method} if with_method else {})
        row = rows.setdefault(tuple(whose.values()), {**whose, **dict.fromkeys(columns, "–")})
        row[column(one)] = _success(one)
    return without_empty(list(rows.values()))


def _rows(results: Sequence[Result], numbers: Callable[[Result], TextRow]) -> list[TextRow]:
    """A row for each result that has any of the numbers; none without one of ours."""
    known = [one for one in results if any(text != "–" for text in numbers(one).values())]
    if not any(one.ours for one in known):
        return []
    return without_empty(
        [
            {**_whose(one), "method": one.method, "n": str(one.n), **numbers(one)}
            for one in comparable(known)
        ]
    )


def _whose(result: Result) -> TextRow:
    return {name: getattr(result, name) or "–" for name in WHOSE}


def _errors(result: Result) -> TextRow:
    row: TextRow = {}
    for kind in ("solver", "simulation"):
        errors, fixed, aborts = (
            getattr(result, f"{kind}_{what}") for what in ("errors", "errors_fixed", "aborts")
        )
        share = None if fixed is None or not errors else f"{100 * fixed / errors:.0f} %"
        found = {"errors": errors, "errors fixed": share, "aborts": aborts}
        row |= {f"{kind} {name}": "–" if n is None else str(n) for name, n in found.items()}
    return row


def _steps(result: Result) -> TextRow:
    return {
        "steps on success": number(result.steps_on_success),
        "steps on failure": number(result.steps_on_failure),
        "actions": number(result.actions),
        "on success, refused ones too": number(result.pddlego_steps_on_success),
        "of these refused": number(result.refused_on_success),
    }


def _success(result: Result) -> str:
    missing = f"{result.missing} without a result" if result.missing else ""
    if result.lowest is None or result.highest is None:
        return missing or "–"
    of = "" if result.n is None else f" of {result.n}"
    if result.interval_low is not None and result.interval_high is not None:
        ends = interval(result.interval_low, result.interval_high)
        return f"{100 * result.lowest:.1f} % {ends}{of}" + (f", {missing}" if missing else "")
    if result.lowest < result.highest:
        return f"{100 * result.lowest:.0f}–{100 * result.highest:.0f} %{of}"
    return f"{100 * result.lowest:.0f} %{of}"
