"""Numbers as people read them: Markdown tables, tables for the terminal, and the notes below."""

from collections import Counter
from collections.abc import Collection, Sequence

from rich.table import Table

from pddlego_local.report.numbers import CellNumbers, Numbers, TaskNumbers, TrialNumbers
from pddlego_local.report.statistics.cell import NESTED
from pddlego_local.report.statistics.rates import Mean, Rate

TextRow = dict[str, str]
LABEL_COLUMNS = ("environment", "method", "model", "decoding", "settings", "budget")
FOUND = ("success", "games solved", "from", "to", "verdict", "points")
ON_SCREEN = ("success", "steps", "calls", "answers", "wall s")
FURTHER = (
    *NESTED, "valid_but_wrong",
    "games_solved", "won", "outcomes", "trivial", "unsolvable", "seen_in_training", "steps",
    "steps_on_success", "steps_on_failure", "actions", "actions_on_success", "refused",
    "refused_on_success", "pddlego_steps_on_success", "calls", "causes", "solver_errors",
    "solver_errors_fixed", "solver_aborts", "simulation_errors", "simulation_errors_fixed",
    "simulation_aborts", "edit_faults", "cut_after_answer", "sampled_tokens", "forced_tokens",
    "rollbacks", "wall_time_s",
)  # fmt: skip
"""Of `Measures` and `CellNumbers`, in the order of the table."""

COLUMNS = {
    "pddlego_steps_on_success": "PDDLego's steps on success",
    "causes": "answers",
    "cut_after_answer": "cut after a whole answer",
    "wall_time_s": "wall s",
}
"""What is not called in a table as it is in the code."""

WITH_SD = {"actions_on_success", "pddlego_steps_on_success"}
RANDOM_ON_COIN = (
    "PDDLego's random policy on Coin, 4 % of games 10–59 and 20 % of games 0–9, wins just the "
    "games whose coin lies in the first room."
)


def report_markdown(numbers: Numbers) -> str:
    """The results: their tables, and below them what a reader has to know."""
    tables = [f"# {title}\n\n{with_common_first(rows)}" for title, rows in result_tables(numbers)]
    below = "".join(f"- {note}\n" for note in notes(numbers))
    return "\n#".join(tables) + f"\n{below}"


def result_tables(numbers: Numbers) -> list[tuple[str, list[TextRow]]]:
    """Titles and rows: the cells; kinds of tasks and trials, where there are several."""
    unsaid = unsaid_columns(numbers)
    several = len({task.tasks for task in numbers.tasks}) > 1
    cells = [cell_text(cell) for cell in numbers.cells]
    tables = [
        ("Results", [{name: row[name] for name in row if name not in unsaid} for row in cells]),
        ("By kind of task", [_task_text(task, unsaid) for task in numbers.tasks if several]),
        ("After each trial", [_trial_text(trial) for trial in numbers.trials]),
    ]
    return [(title, rows) for title, rows in tables if rows]


def unsaid_columns(numbers: Numbers) -> set[str]:
    """The columns in which no cell has anything to say."""
    cells = numbers.cells
    said = {
        **dict.fromkeys(
            ("read", "accepted", "has plan", "valid but wrong"),
            any(cell.labels["environment"] == "described" for cell in cells),
        ),
        "games": any(cell.measures.maps is not None for cell in cells),
        "games solved": bool(numbers.trials),
        "of what was asked": any(cell.missing for cell in cells),
        "seen in training": any(cell.seen_in_training for cell in cells),
        "cut after a whole answer": any(cell.measures.cut_after_answer for cell in cells),
    }
    return {column for column, anything in said.items() if not anything}


def notes(numbers: Numbers) -> list[str]:
    """What a reader of the tables has to know."""
    lines = [
        "Rates: k of n with a Wilson interval of 95 %. The trials of a game, and games with the "
        "same map, are one cluster: as far as they agree, the interval is that of fewer games."
    ]
    if not any(cell.with_trivial for cell in numbers.cells):
        lines.append(
            "Trivial games (solved at reset) are left out. The papers' tables count them: "
            "use --with-trivial to compare with those."
        )
    else:
        coin = any(cell.labels["environment"] == "coin" for cell in numbers.cells)
        lines.append(
            "Trivial games (solved at reset) are counted, as in the papers' tables."
            + (f" {RANDOM_ON_COIN}" if coin else "")
        )
    if seen := [cell for cell in numbers.cells if cell.seen_in_training]:
        how = "counted" if seen[0].with_seen else "left out"
        lines.append(
            f"Games whose map occurs in the training of the model that plays them are {how}."
        )
    methods = {cell.labels["method"] for cell in numbers.cells if cell.games_teach_each_other}
    lines += [
        f"What {method} learns in one game it is told in others: from the second trial on its "
        "games are not independent, and its intervals and p are too small."
        for method in sorted(methods)
    ]
    if any(cell.missing for cell in numbers.cells):
        lines.append("The interval of what was asked takes what has no result as lost, and as won.")
    lines.append(
        "Actions are the commands carried out, refused ones are apart; PDDLego's steps are both."
    )
    return lines


def cell_text(cell: CellNumbers) -> TextRow:
    """One line of the first table."""
    left = f", {cell.missing} without a result" if cell.missing else ""
    values = {**vars(cell.measures), **vars(cell)}
    return {
        **cell.labels,
        "finished": f"{cell.finished} of {cell.asked}{left}",
        "games": _games(cell.measures.games, cell.measures.maps),
        "success": rate(cell.measures.success),
        "of what was asked": interval(*cell.success_of_asked) if left else "–",
        **{
            COLUMNS.get(name, name.replace("_", " ")): _text(name, values[name]) for name in FURTHER
        },
    }


def _text(name: str, value: object) -> str:
    if isinstance(value, Rate):
        return rate(value)
    if isinstance(value, Counter):
        return ", ".join(f"{key} {count}" for key, count in value.most_common()) or "–"
    if isinstance(value, Mean):
        return number(value.mean) + (f" ± {number(value.sd)}" if name in WITH_SD else "")
    return str(value)


def _task_text(task: TaskNumbers, unsaid: Collection[str]) -> TextRow:
    games = {} if "games" in unsaid else {"games": _games(task.games, task.maps)}
    return {**task.labels, "tasks": task.tasks, **games, "success": rate(task.success)}


def _trial_text(trial: TrialNumbers) -> TextRow:
    return {
        **trial.labels,
        "tasks": trial.tasks,
        "after trial": str(trial.after_trial),
        "games solved": rate(trial.games_solved),
        "without a result": str(trial.missing),
        "of what was asked": interval(*trial.games_solved_of_asked) if trial.missing else "–",
    }


def markdown(table: Sequence[TextRow]) -> str:
    """A table of equal-keyed rows as GitHub Markdown; "" for no rows."""
    if not table:
        return ""
    columns = list(table[0])
    cells = ([row[c].replace("|", "\\|") for c in columns] for row in table)
    lines = [columns, ["---"] * len(columns), *cells]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def without_empty(rows: Sequence[TextRow]) -> list[TextRow]:
    """Without the columns in which no row says anything."""
    said = [name for name in rows[0] if any(row[name].strip("–→ ") for row in rows)] if rows else []
    return [{name: row[name] for name in said} for row in rows]


def with_common_first(rows: Sequence[TextRow]) -> str:
    """A table below a line of what all its rows have in common, so that what was found stands on
    the left."""
    common, columns = split_common(rows)
    shared = ", ".join(f"{name} {text}" for name, text in common.items() if text.strip("–"))
    table = markdown([{name: row[name] for name in columns} for row in rows])
    return f"In all: {shared}.\n\n{table}" if shared else table


def split_common(
    rows: Sequence[TextRow], found: Collection[str] = FOUND
) -> tuple[TextRow, list[str]]:
    """The columns that all of several rows have in common, with their text, and the names of the
    others, those of what was `found` among them in any case."""
    common = {
        name: text
        for name, text in rows[0].items()
        if len(rows) > 1 and name not in found and len({row[name] for row in rows}) == 1
    }
    return common, [name for name in rows[0] if name not in common]


def on_screen(numbers: Numbers) -> Table:
    """The columns that fit a terminal; a column of labels only where it tells cells apart."""
    table = [cell_text(cell) for cell in numbers.cells]
    apart = [c for c in LABEL_COLUMNS if len({row[c] for row in table}) > 1]
    missing = any(cell.missing for cell in numbers.cells)
    maps = any(c.measures.maps not in (None, c.measures.games) for c in numbers.cells)
    found = {
        "games": maps,
        "finished": missing,
        "success": True,
        "of what was asked": missing,
        "games solved": bool(numbers.trials),
    }
    columns = [*(apart or ["model"]), *(c for c in found if found[c]), *ON_SCREEN[1:]]
    screen = Table(*columns, caption="\n".join(notes(numbers)[:-1]), caption_justify="left")
    for row in table:
        screen.add_row(*(row[column] for column in columns))
    return screen


def rate(value: Rate) -> str:
    """For example "55.0 % [34.2, 74.2] of 20"; a dash for none of none."""
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
