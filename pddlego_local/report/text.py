"""Renders numbers as Markdown tables, tables for the terminal, and the notes below
them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
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


def amount(number: int, noun: str) -> str:
    """For example "1 step" and "2 steps"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_NOTES.globals["amount"] = amount


def unfinished(cells: Sequence[CellRecord], planned: Mapping[Path, Episodes]) -> str:
    """Says in sentences how many results are missing, or returns "" if none are.
    `planned` has what sweeps requested, for the resolved folder of each cell, begun or
    not.
    """
    missing = _missing(cells, planned)
    left = sum(len(episodes) for episodes in missing.values())
    if not left:
        return ""
    total = left + sum(len(cell.rows) for cell in cells)
    have = "has" if left == 1 else "have"
    words = (
        f"This sweep is not finished: {left} of {amount(total, 'episode')} {have} no"
        " result yet."
    )
    if waiting := len(missing) - len(cells):
        have = "has" if waiting == 1 else "have"
        words += f" {waiting} of {amount(len(missing), 'cell')} {have} not begun."
    return f"{words} Every number below may still change."


def _missing(
    cells: Sequence[CellRecord], planned: Mapping[Path, Episodes]
) -> dict[Path, Episodes]:
    """The requested episodes without a result, by the folder of each cell."""
    missing = dict(planned)
    for cell in cells:
        missing[cell.folder.resolve()] = cell.missing_episodes
    return missing


def missing_markdown(
    cells: Sequence[CellRecord], planned: Mapping[Path, Episodes]
) -> str:
    """Names every requested episode without a result, as a section; "" if there is
    none.
    """
    begun = {cell.folder.resolve() for cell in cells}
    lines = []
    for folder, episodes in sorted(_missing(cells, planned).items()):
        if episodes:
            name = f"`{visible(folder.name)}`"
            if folder not in begun:
                name += " (not begun)"
            lines.append(f"{name}: {_by_trial(episodes)}")
    if not lines:
        return ""
    return f"## Episodes without a result\n\n{bullets(lines)}"


def bullets(lines: Iterable[str]) -> str:
    """Returns a Markdown list."""
    return "".join(f"- {line}\n" for line in lines)


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
    notes = result_notes(numbers)
    return "\n#".join(tables) + "\n" + bullets(notes)


def result_tables(numbers: Numbers) -> list[tuple[str, list[TextRow]]]:
    """Returns titles and rows of the tables: cells, and kinds of tasks and trials if
    there are several.
    """
    unsaid = unsaid_columns(numbers) - {"finished"}
    cells = [cell_text(cell) for cell in numbers.cells]
    tasks = [_task_text(task) for task in numbers.tasks]
    trials = [_trial_text(trial) for trial in numbers.trials]
    if len({row["tasks"] for row in tasks}) == 1:
        tasks = []
    tables = {
        "Results": cells,
        "By kind of task": tasks,
        "After each trial": trials,
    }
    shown = []
    for title, rows in tables.items():
        if rows:
            shown.append((title, [without(row, unsaid) for row in rows]))
    return shown


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
    if not any(cell.measures.has_idle for cell in cells):
        unsaid.add("equivalent but for idle objects")
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


def result_notes(numbers: Numbers) -> list[str]:
    """Returns what explains the tables of results."""
    return notes_of("results", cells=numbers.cells, dead_ends=numbers.dead_ends)


def cell_text(cell: CellNumbers) -> TextRow:
    """Returns one row of the first table."""
    finished = f"{cell.finished} of {cell.asked}"
    of_all_requested = "–"
    if cell.missing:
        finished += f", {cell.missing} without a result"
        of_all_requested = interval(*cell.success_of_asked)
    values = {**vars(cell.measures), **vars(cell)}
    further = {title: _text(name, values[name]) for name, title in FURTHER.items()}
    return {
        **cell.labels,
        "finished": finished,
        "games": _games(cell.measures.games, cell.measures.maps),
        "success": rate(cell.measures.success),
        "of all requested": of_all_requested,
        **further,
    }


def _text(name: str, value: object) -> str:
    if isinstance(value, Rate):
        return rate(value)
    if isinstance(value, Counter):
        counts = [f"{key} {count}" for key, count in value.most_common()]
        return ", ".join(counts) or "–"
    if isinstance(value, Mean):
        mean = number(value.mean)
        if name in WITH_SD:
            return f"{mean} ± {number(value.sd)}"
        return mean
    return str(value)


def _task_text(task: TaskNumbers) -> TextRow:
    return {
        **task.labels,
        "tasks": task.tasks,
        "games": _games(task.games, task.maps),
        "success": rate(task.success),
    }


def _trial_text(trial: TrialNumbers) -> TextRow:
    of_all_requested = "–"
    if trial.missing:
        of_all_requested = interval(*trial.games_solved_of_asked)
    return {
        **trial.labels,
        "tasks": trial.tasks,
        "after trial": str(trial.after_trial),
        "games solved": rate(trial.games_solved),
        "without a result": str(trial.missing),
        "of all requested": of_all_requested,
    }


def markdown(table: Sequence[TextRow]) -> str:
    """Returns rows with equal keys as a GitHub Markdown table, or "" for no rows."""
    if not table:
        return ""
    columns = list(table[0])
    rule = ["---"] * len(columns)
    text = _line(columns) + _line(rule)
    for row in table:
        cells = [row[column].replace("|", "\\|") for column in columns]
        text += _line(cells)
    return text


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def without_empty(rows: Sequence[TextRow]) -> list[TextRow]:
    """Removes the columns that are empty in all rows."""
    filled = set[str]()
    for row in rows:
        filled |= {name for name, text in row.items() if text.strip("–→ ")}
    return [without(row, row.keys() - filled) for row in rows]


def with_common_first(rows: Sequence[TextRow]) -> str:
    """Returns a table below a line with the values that all its rows share, so that the
    results are on the left.
    """
    common, _ = split_common(rows, FOUND)
    table = markdown([without(row, common) for row in rows])
    known = [name for name in common if common[name].strip("–")]
    if not known:
        return table
    shared = ", ".join(f"{name} {common[name]}" for name in known)
    return f"In all rows: {shared}.\n\n{table}"


def split_common(
    rows: Sequence[TextRow], found: Collection[str]
) -> tuple[TextRow, list[str]]:
    """Returns the columns in which all of several rows have the same text, with that
    text, and the names of all other columns. The columns in `found` are never among the
    former.
    """
    common, others = {}, []
    for name, text in rows[0].items():
        same = len(rows) > 1 and not differs(rows, name)
        if same and name not in found:
            common[name] = text
        else:
            others.append(name)
    return common, others


def differs(rows: Sequence[Mapping[str, str]], name: str) -> bool:
    """Returns whether the rows have different texts in this column."""
    return len({row[name] for row in rows}) > 1


def on_screen(numbers: Numbers) -> Table:
    """Returns a table that fits a terminal; label columns are shown only where cells
    differ.
    """
    table = [cell_text(cell) for cell in numbers.cells]
    differing = [name for name in LABEL_COLUMNS if differs(table, name)]
    unsaid = unsaid_columns(numbers)
    if not any(cell.measures.share_maps for cell in numbers.cells):
        unsaid.add("games")
    columns = differing or ["model"]
    columns += [column for column in ON_SCREEN if column not in unsaid]
    notes = result_notes(numbers)
    caption = "\n".join(notes[:-1])
    screen = Table(*columns, caption=caption, caption_justify="left")
    for row in table:
        cells = [row[column] for column in columns]
        screen.add_row(*cells)
    return screen


def rate(value: Rate) -> str:
    """For example "55.0 % [34.2, 74.2] of 20", or a dash if n is 0."""
    if value.share is None:
        return "–"
    low, high = value.interval
    return f"{percent(value.share)} {interval(low, high)} of {value.n}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _games(games: int, maps: int | None) -> str:
    """For example "50 (20 maps)"."""
    if maps is None:
        return str(games)
    return f"{games} ({amount(maps, 'map')})"


def interval(low: float, high: float) -> str:
    low_percent = 100 * low
    high_percent = 100 * high
    return f"[{low_percent:.1f}, {high_percent:.1f}]"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
