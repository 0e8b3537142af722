"""The numbers of a report as its first page shows them: what answers first, all columns below."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.report.numbers import Numbers
from pddlego_local.report.text import (
    TOLD_APART,
    Text,
    cell_text,
    notes,
    task_text,
    trial_text,
    unsaid_columns,
)

FIRST = (
    "finished", "games", "success", "of what was asked", "games solved", "calls", "sampled tokens",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """`common` are the columns that all rows have alike, which are told once; `links` are each
    row's address and its words, none where rows lead nowhere."""

    common: Sequence[tuple[str, str]]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Results:
    """`cells` answer, a row a cell, with all else in `details`; `kinds` and `trials` are None where
    there is one kind of task, or one trial."""

    cells: Table
    details: Table
    kinds: Table | None
    trials: Table | None
    notes: Sequence[str]


def results(numbers: Numbers, addresses: Sequence[str]) -> Results:
    """`addresses` lead to the episodes of each cell."""
    rows = [cell_text(cell) for cell in numbers.cells]
    unsaid = unsaid_columns(numbers)
    if not any(cell.episodes.missing for cell in numbers.cells):
        unsaid.add("finished")
    first = [name for name in (*TOLD_APART, *FIRST) if name not in unsaid]
    counts = [f"{cell.episodes.finished} episodes" for cell in numbers.cells]
    return Results(
        cells=table(
            [{name: row[name] for name in first} for row in rows],
            shown=set(first) - {*TOLD_APART, "games"},
            links=list(zip(addresses, counts, strict=True)),
        ),
        details=table([_without(unsaid - {"finished"}, row) for row in rows]),
        kinds=_kinds(numbers, unsaid),
        trials=_trials(numbers),
        notes=notes(numbers),
    )


def table(
    rows: Sequence[Text], shown: set[str] | None = None, links: Sequence[tuple[str, str]] = ()
) -> Table:
    """`shown` columns are no common ones, whatever they say."""
    alike = {name for name in rows[0] if len(rows) > 1 and len({row[name] for row in rows}) == 1}
    alike -= shown or set()
    common = [(name, rows[0][name]) for name in rows[0] if name in alike]
    columns = [name for name in rows[0] if name not in alike]
    return Table(common, columns, [[row[name] for name in columns] for row in rows], links)


def _without(columns: set[str], row: Text) -> Text:
    return {name: text for name, text in row.items() if name not in columns}


def _kinds(numbers: Numbers, unsaid: set[str]) -> Table | None:
    """Where a cell has several: the others' only kind is their row of the first table."""
    kinds = Counter(tuple(task.labels.values()) for task in numbers.tasks)
    if not any(count > 1 for count in kinds.values()):
        return None
    rows = [_without(unsaid, task_text(task)) for task in numbers.tasks]
    return table(rows, {"tasks", "success"})


def _trials(numbers: Numbers) -> Table | None:
    """Of all kinds of tasks together."""
    rows = [trial_text(trial) for trial in numbers.trials if trial.tasks == "all"]
    return table(rows, {"after trial", "games solved"}) if rows else None
