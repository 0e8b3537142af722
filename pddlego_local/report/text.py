"""Renders numbers as Markdown tables, tables for the terminal, and the notes below
them.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from rich.table import Table

from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.run_record import in_ranges
from pddlego_local.core.resources import jinja, table
from pddlego_local.core.visible import visible
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.numbers import CellNumbers, Numbers, TaskNumbers, TrialNumbers
from pddlego_local.report.statistics.rates import Mean, Rate
from pddlego_local.runner.sweep import Episodes

TextRow = dict[str, str]
LABEL_COLUMNS = ("environment", "method", "model", "decoding", "settings", "budget")
FOUND = (
    "success",
    "games solved",
    "from",
    "to",
    "on these maps",
    "on new maps",
    "points",
)
ON_SCREEN = (
    "games",
    "finished",
    "success",
    "of all requested",
    "games solved",
    "steps",
    "calls",
    "answers",
    "wall s",
)
FURTHER: dict[str, str] = table(__file__, "columns.yaml")
WITH_SD = {"actions_on_success", "pddlego_steps_on_success"}
_NOTES = jinja(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("notes")),
    keep_trailing_newline=True,
)


def unfinished(cells: Sequence[CellRecord], planned: Mapping[Path, Episodes]) -> str:
    """Says in sentences how many results are missing, or returns "" if none are.
    `planned` has what sweeps requested, for the resolved folder of each cell, begun or
    not.
    """
    requested = {folder: len(episodes) for folder, episodes in planned.items()}
    for cell in cells:
        requested[cell.folder.resolve()] = len(cell.rows) + cell.missing
    total = sum(requested.values())
    left = total - sum(len(cell.rows) for cell in cells)
    if not left:
        return ""
    words = [
        f"This sweep is not finished: {left} of {total} episodes have no result yet."
    ]
    if waiting := len(requested) - len(cells):
        words.append(f"{waiting} of {len(requested)} cells have not begun.")
    words.append("Every number below may still change.")
    return " ".join(words)


def missing_markdown(
    cells: Sequence[CellRecord], planned: Mapping[Path, Episodes]
) -> str:
    """Names every requested episode without a result, as a section; "" if there is
    none.
    """
    missing = dict(planned)
    for cell in cells:
        missing[cell.folder.resolve()] = cell.missing_episodes
    begun = {cell.folder.resolve() for cell in cells}
    lines = []
    for folder, episodes in sorted(missing.items()):
        if episodes:
            not_begun = "" if folder in begun else " (not begun)"
            name = f"`{visible(folder.name)}`{not_begun}"
            lines.append(f"- {name}: {_by_trial(episodes)}")
    return "\n".join(["## Episodes without a result\n", *lines, ""]) if lines else ""


def _by_trial(episodes: Episodes) -> str:
    """For example "trial 0: games 3-4,9; trial 1: game 9"."""
    games_of_trial = grouped((trial, game) for game, trial in episodes)
    words = []
    for trial, games in sorted(games_of_trial.items()):
        noun = "game" if len(games) == 1 else "games"
        words.append(f"trial {trial}: {noun} {in_ranges(games)}")
    return "; ".join(words)


def report_markdown(numbers: Numbers) -> str:
    """Returns the tables of results, and below them the notes that explain them."""
    tables = [
        f"# {title}\n\n{with_common_first(rows)}"
        for title, rows in result_tables(numbers)
    ]
    notes = [f"- {note}\n" for note in notes_of("results", cells=numbers.cells)]
    return "\n#".join(tables) + "\n" + "".join(notes)


def result_tables(numbers: Numbers) -> list[tuple[str, list[TextRow]]]:
    """Returns titles and rows of the tables: cells, and kinds of tasks and trials if
    there are several.
    """
    unsaid = unsaid_columns(numbers) - {"finished"}
    several = len({task.tasks for task in numbers.tasks}) > 1
    cells = [cell_text(cell) for cell in numbers.cells]
    tables = {
        "Results": [without(row, unsaid) for row in cells],
        "By kind of task": [
            without(_task_text(task), unsaid) for task in numbers.tasks if several
        ],
        "After each trial": [_trial_text(trial) for trial in numbers.trials],
    }
    return [(title, rows) for title, rows in tables.items() if rows]


def without(row: TextRow, columns: Collection[str]) -> TextRow:
    return {name: text for name, text in row.items() if name not in columns}


def unsaid_columns(numbers: Numbers) -> set[str]:
    """Returns the columns that are empty for all cells, and "finished" if no result is
    missing.
    """
    cells = numbers.cells
    unsaid = set[str]()
    if not any(cell.measures.judged_by_gold for cell in cells):
        unsaid |= {"read", "accepted", "has plan", "valid but wrong"}
    if not any(cell.measures.equivalent.n for cell in cells):
        unsaid.add("equivalent to gold")
    if all(cell.measures.maps is None for cell in cells):
        unsaid.add("games")
    if not numbers.trials:
        unsaid.add("games solved")
    if not any(cell.missing for cell in cells):
        unsaid |= {"finished", "of all requested"}
    if not any(cell.seen_in_training for cell in cells):
        unsaid.add("seen in training")
    if not any(cell.tries_used_up.n for cell in cells):
        unsaid |= {"answers with all tries rejected", "games with such an answer"}
    if not any(cell.measures.cut_after_answer for cell in cells):
        unsaid.add("cut after a whole answer")
    return unsaid


def rendered(name: str, **facts: Any) -> str:
    """Renders a template in notes/."""
    return _NOTES.get_template(f"{name}.jinja").render(facts)


def notes_of(name: str, **facts: Any) -> list[str]:
    """Renders a template in notes/ and returns its paragraphs, each as one line."""
    paragraphs = rendered(name, **facts).split("\n\n")
    return [paragraph.strip().replace("\n", " ") for paragraph in paragraphs]


def cell_text(cell: CellNumbers) -> TextRow:
    """Returns one row of the first table."""
    finished, of_all_requested = f"{cell.finished} of {cell.asked}", "–"
    if cell.missing:
        finished += f", {cell.missing} without a result"
        of_all_requested = interval(*cell.success_of_asked)
    values = {**vars(cell.measures), **vars(cell)}
    return {
        **cell.labels,
        "finished": finished,
        "games": _games(cell.measures.games, cell.measures.maps),
        "success": rate(cell.measures.success),
        "of all requested": of_all_requested,
        **{title: _text(name, values[name]) for name, title in FURTHER.items()},
    }


def _text(name: str, value: object) -> str:
    if isinstance(value, Rate):
        return rate(value)
    if isinstance(value, Counter):
        return ", ".join(f"{key} {count}" for key, count in value.most_common()) or "–"
    if isinstance(value, Mean):
        mean = number(value.mean)
        return f"{mean} ± {number(value.sd)}" if name in WITH_SD else mean
    return str(value)


def _task_text(task: TaskNumbers) -> TextRow:
    return {
        **task.labels,
        "tasks": task.tasks,
        "games": _games(task.games, task.maps),
        "success": rate(task.success),
    }


def _trial_text(trial: TrialNumbers) -> TextRow:
    return {
        **trial.labels,
        "tasks": trial.tasks,
        "after trial": str(trial.after_trial),
        "games solved": rate(trial.games_solved),
        "without a result": str(trial.missing),
        "of all requested": (
            interval(*trial.games_solved_of_asked) if trial.missing else "–"
        ),
    }


def markdown(table: Sequence[TextRow]) -> str:
    """Returns rows with equal keys as a GitHub Markdown table, or "" for no rows."""
    if not table:
        return ""
    columns = list(table[0])
    lines = [columns, ["---"] * len(columns)]
    for row in table:
        lines.append([row[column].replace("|", "\\|") for column in columns])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def without_empty(rows: Sequence[TextRow]) -> list[TextRow]:
    """Removes the columns that are empty in all rows."""
    if not rows:
        return []
    empty = {
        name for name in rows[0] if not any(row[name].strip("–→ ") for row in rows)
    }
    return [without(row, empty) for row in rows]


def with_common_first(rows: Sequence[TextRow]) -> str:
    """Returns a table below a line with the values that all its rows share, so that the
    results are on the left.
    """
    common, columns = split_common(rows, FOUND)
    shared = ", ".join(
        f"{name} {text}" for name, text in common.items() if text.strip("–")
    )
    table = markdown([{name: row[name] for name in columns} for row in rows])
    return f"In all rows: {shared}.\n\n{table}" if shared else table


def split_common(
    rows: Sequence[TextRow], found: Collection[str]
) -> tuple[TextRow, list[str]]:
    """Returns the columns in which all of several rows have the same text, with that
    text, and the names of all other columns. The columns in `found` are never among the
    former.
    """
    common, others = {}, []
    for name, text in rows[0].items():
        same = len(rows) > 1 and all(row[name] == text for row in rows)
        if same and name not in found:
            common[name] = text
        else:
            others.append(name)
    return common, others


def on_screen(numbers: Numbers) -> Table:
    """Returns a table that fits a terminal; label columns are shown only where cells
    differ.
    """
    table = [cell_text(cell) for cell in numbers.cells]
    differing = [c for c in LABEL_COLUMNS if len({row[c] for row in table}) > 1]
    unsaid = unsaid_columns(numbers)
    if all(c.measures.maps in (None, c.measures.games) for c in numbers.cells):
        unsaid.add("games")
    columns = differing or ["model"]
    columns += [column for column in ON_SCREEN if column not in unsaid]
    below = "\n".join(notes_of("results", cells=numbers.cells)[:-1])
    screen = Table(*columns, caption=below, caption_justify="left")
    for row in table:
        screen.add_row(*(row[column] for column in columns))
    return screen


def rate(value: Rate) -> str:
    """For example "55.0 % [34.2, 74.2] of 20", or a dash if n is 0."""
    if value.share is None:
        return "–"
    return f"{100 * value.share:.1f} % {interval(*value.interval)} of {value.n}"


def _games(games: int, maps: int | None) -> str:
    """For example "50 (20 maps)"."""
    return str(games) if maps is None else f"{games} ({maps} maps)"


def interval(low: float, high: float) -> str:
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
