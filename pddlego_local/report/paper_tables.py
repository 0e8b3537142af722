"""The papers' tables, of our cells and beside them the papers' own numbers: text."""

from collections.abc import Callable, Collection, Iterable, Sequence

from pddlego_local.report.latex import booktabs
from pddlego_local.report.papers import COMPACT
from pddlego_local.report.published import Result, sources
from pddlego_local.report.text import Text, markdown

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
    notes = "".join(f"- {note}\n" for note in (*NOTES, *sources(results)))
    return "\n".join(["# As the papers report it\n", *tables, notes]) if tables else ""


def papers_latex(results: Sequence[Result]) -> str:
    return "\n".join(booktabs(rows, title) for title, rows in _tables(results))


def _tables(results: Sequence[Result]) -> list[tuple[str, list[Text]]]:
    main = [one for one in results if _main(one) and not one.group and not one.domain]
    by_group = [one for one in results if _main(one) and one.group and not one.domain]
    by_variant = [one for one in results if one.variant and not one.group and not one.domain]
    by_domain = [one for one in results if _main(one) and not one.group]
    tables = [
        ("Success by method and model", _pivot(main, lambda one: one.method)),
        ("Errors, and how many were fixed", _listed(main, _errors)),
        ("Steps and actions", _listed(main, _steps)),
        ("Difficulty", _pivot(by_group, lambda one: one.group, apart=2)),
        ("What the prompt tells of goals", _pivot(by_variant, lambda one: one.variant, apart=2)),
        ("A domain that won before, held fixed", _pivot(by_domain, _domain, apart=2)),
    ]
    return [(title, rows) for title, rows in tables if rows]


def _main(result: Result) -> bool:
    """With what the prompts of the papers' main tables tell; `compact` tells it in fewer words."""
    return not result.variant or (result.ours and result.variant in ("detailed", COMPACT))


def _domain(result: Result) -> str:
    return f"domain {result.domain or 'written'}"


def _pivot(
    results: Sequence[Result], column: Callable[[Result], str], apart: int = 1
) -> list[Text]:
    """Success, a column for each value. None where our cells have fewer values than `apart`."""
    ours = {column(one) for one in results if one.ours}
    if len(ours) < apart:
        return []
    shown = _beside_ours(results)
    columns = sorted({column(one) for one in shown}, key=_by_number)
    with_method = column(shown[0]) != shown[0].method
    rows: dict[tuple[str, ...], Text] = {}
    for one in shown:
        whose = _whose(one) | ({"method": one.method} if with_method else {})
        row = rows.setdefault(tuple(whose.values()), {**whose, **dict.fromkeys(columns, "–")})
        row[column(one)] = _success(one)
    return _told(rows.values())


def _listed(results: Sequence[Result], numbers: Callable[[Result], Text]) -> list[Text]:
    """A row for each result that has any of the numbers; none without one of ours."""
    known = [one for one in results if any(text != "–" for text in numbers(one).values())]
    rows = [
        {**_whose(one), "method": one.method, "n": str(one.n), **numbers(one)}
        for one in (_beside_ours(known) if any(one.ours for one in known) else [])
    ]
    return _told(rows)


def _beside_ours(results: Sequence[Result]) -> list[Result]:
    """Ours, and of the others those of the same environments and methods."""
    played = {(one.environment.removesuffix("_real"), one.method) for one in results if one.ours}
    return [one for one in results if one.ours or (one.environment, one.method) in played]


def _whose(result: Result) -> Text:
    return {name: str(getattr(result, name)) for name in WHOSE}


def _errors(result: Result) -> Text:
    return {
        "solver errors": _count(result.solver_errors),
        "solver errors fixed": _share(result.solver_errors_fixed, result.solver_errors),
        "solver aborts": _count(result.solver_aborts),
        "simulation errors": _count(result.simulation_errors),
        "simulation errors fixed": _share(result.simulation_errors_fixed, result.simulation_errors),
        "simulation aborts": _count(result.simulation_aborts),
    }


def _steps(result: Result) -> Text:
    return {
        "steps on success": _mean(result.steps_on_success),
        "steps on failure": _mean(result.steps_on_failure),
        "actions": _mean(result.actions),
        "on success, refused ones too": _mean(result.pddlego_steps_on_success),
        "of these refused": _mean(result.refused_on_success),
    }


def _success(result: Result) -> str:
    if result.lowest is None or result.highest is None:
        return f"{result.missing} without a result" if result.missing else "–"
    of = "" if result.n is None else f" of {result.n}"
    missing = f", {result.missing} without a result" if result.missing else ""
    if result.interval_low is not None and result.interval_high is not None:
        interval = f"[{100 * result.interval_low:.1f}, {100 * result.interval_high:.1f}]"
        return f"{100 * result.lowest:.1f} % {interval}{of}{missing}"
    if result.lowest < result.highest:
        return f"{100 * result.lowest:.0f}–{100 * result.highest:.0f} %{of}"
    return f"{100 * result.lowest:.0f} %{of}"


def _told(rows: Iterable[Text]) -> list[Text]:
    """Without columns in which no row says anything."""
    listed = list(rows)
    names: Collection[str] = listed[0] if listed else ()
    told = [name for name in names if any(row.get(name, "–") not in ("", "–") for row in listed)]
    return [{name: row.get(name, "–") or "–" for name in told} for row in listed]


def _by_number(name: str) -> tuple[int, str]:
    """ "3 rooms" before "11 rooms"."""
    first = name.split()[0]
    return (int(first) if first.isdigit() else 0), name


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)


def _share(part: int | None, whole: int | None) -> str:
    return "–" if part is None or not whole else f"{100 * part / whole:.0f} %"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
