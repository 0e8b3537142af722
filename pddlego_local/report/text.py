"""Numbers as people read them: Markdown tables, tables for the terminal, and the notes below."""

from collections import Counter
from collections.abc import Collection, Sequence

from rich.table import Table

from pddlego_local.report.cells import HELPED
from pddlego_local.report.numbers import CellNumbers, Numbers, Range, TaskNumbers, TrialNumbers
from pddlego_local.report.statistics.rates import Mean, Rate

Text = dict[str, str]
TOLD_APART = ("environment", "method", "model", "decoding", "settings", "budget")
FOUND = ("success", "games solved", "from", "to", "verdict", "points")
ON_SCREEN = ("success", "steps", "calls", "answers", "wall s")
RANDOM_ON_COIN = (
    "PDDLego's random policy on Coin, 4 % of games 10–59 and 20 % of games 0–9, wins just the "
    "games whose coin lies in the first room."
)


def report_markdown(numbers: Numbers) -> str:
    """The whole report."""
    cells, tasks = map(cell_text, numbers.cells), list(map(task_text, numbers.tasks))
    several = len({row["tasks"] for row in tasks}) > 1
    unsaid = unsaid_columns(numbers)
    parts = [
        ("# Results", [_without(unsaid, row) for row in cells]),
        ("## By kind of task", [_without(unsaid, row) for row in tasks if several]),
        ("## After each trial", [trial_text(trial) for trial in numbers.trials]),
    ]
    tables = [f"{title}\n\n{with_common_first(rows)}" for title, rows in parts if rows]
    notes_below = "".join(f"- {note}\n" for note in notes(numbers))
    return "\n".join([*tables, notes_below])


def unsaid_columns(numbers: Numbers) -> set[str]:
    """The columns in which no cell has anything to say."""
    cells = numbers.cells
    said = {
        "games": any(cell.measures.maps is not None for cell in cells),
        "games solved": bool(numbers.trials),
        "of what was asked": any(cell.episodes.missing for cell in cells),
        "seen in training": any(cell.episodes.seen_in_training for cell in cells),
        "cut after a whole answer": any(cell.measures.cut_after_answer for cell in cells),
    }
    return {column for column, anything in said.items() if not anything}


def _without(columns: Collection[str], row: Text) -> Text:
    return {column: text for column, text in row.items() if column not in columns}


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
    if any(cell.episodes.seen_in_training for cell in numbers.cells):
        lines.append(
            "Games whose map occurs in the training of the model that plays them are left out."
        )
    methods = {cell.labels["method"] for cell in numbers.cells if cell.games_teach_each_other}
    for method in sorted(methods):
        lines.append(
            f"What {method} learns in one game it is told in others: from the second trial on its "
            "games are not independent, and its intervals and p are too small."
        )
    if any(cell.labels["decoding"].endswith(HELPED) for cell in numbers.cells):
        lines.append(
            f'Decoding "…{HELPED}" has help from outside: a tracker of the state says which places '
            "are unvisited. No arm without that help compares with it."
        )
    if any(cell.episodes.missing for cell in numbers.cells):
        lines.append("The interval of what was asked takes what has no result as lost, and as won.")
    lines.append(
        "Actions are the commands carried out, refused ones are apart; PDDLego's steps are both."
    )
    return lines


def cell_text(cell: CellNumbers) -> Text:
    """One line of the first table."""
    measures, episodes = cell.measures, cell.episodes
    return {
        **cell.labels,
        "finished": _finished(cell),
        "games": _games(measures.games, measures.maps),
        "success": rate(measures.success),
        "of what was asked": _range(cell.success_of_asked) if episodes.missing else "–",
        "games solved": rate(measures.games_solved),
        "won": str(measures.won),
        "outcomes": _counts(measures.outcomes),
        "trivial": str(episodes.trivial),
        "unsolvable": str(episodes.unsolvable),
        "seen in training": str(episodes.seen_in_training),
        "steps": _mean(measures.steps),
        "steps on success": _mean(measures.steps_on_success),
        "steps on failure": _mean(measures.steps_on_failure),
        "actions": _mean(measures.actions),
        "actions on success": _with_sd(measures.actions_on_success),
        "refused": _mean(measures.refused),
        "refused on success": _mean(measures.refused_on_success),
        "PDDLego's steps on success": _with_sd(measures.pddlego_steps_on_success),
        "calls": _mean(measures.calls),
        "answers": _counts(measures.causes),
        "solver errors": str(measures.solver_errors),
        "solver errors fixed": rate(measures.solver_errors_fixed),
        "solver aborts": str(measures.solver_aborts),
        "simulation errors": str(measures.simulation_errors),
        "simulation errors fixed": rate(measures.simulation_errors_fixed),
        "simulation aborts": str(measures.simulation_aborts),
        "edit faults": str(measures.edit_faults),
        "cut after a whole answer": str(measures.cut_after_answer),
        "sampled tokens": _mean(measures.sampled_tokens),
        "forced tokens": _mean(measures.forced_tokens),
        "rollbacks": _mean(measures.rollbacks),
        "wall s": _mean(measures.wall_time_s),
    }


def task_text(task: TaskNumbers) -> Text:
    return {
        **task.labels,
        "tasks": task.tasks,
        "games": _games(task.games, task.maps),
        "success": rate(task.success),
    }


def trial_text(trial: TrialNumbers) -> Text:
    return {
        **trial.labels,
        "tasks": trial.tasks,
        "after trial": str(trial.after_trial),
        "games solved": rate(trial.games_solved),
        "without a result": str(trial.missing),
        "of what was asked": _range(trial.games_solved_of_asked) if trial.missing else "–",
    }


def markdown(table: Sequence[Text]) -> str:
    """A table of equal-keyed rows as GitHub Markdown; "" for no rows."""
    if not table:
        return ""
    columns = list(table[0])
    cells = ([row[c].replace("|", "\\|") for c in columns] for row in table)
    lines = [columns, ["---"] * len(columns), *cells]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def with_common_first(rows: Sequence[Text]) -> str:
    """A table below a line of what all its rows share, so that what was found stands on the left;
    what a table is about stays in it."""
    if len(rows) == 1:
        return markdown(rows)
    common = [name for name in rows[0] if len({row[name] for row in rows}) == 1]
    common = [name for name in common if name not in FOUND]
    told = ", ".join(f"{name} {rows[0][name]}" for name in common if rows[0][name].strip("–"))
    table = markdown([{k: v for k, v in row.items() if k not in common} for row in rows])
    return f"In all: {told}.\n\n{table}" if told else table


def on_screen(numbers: Numbers) -> Table:
    """The columns that fit a terminal; a column of labels only where it tells cells apart."""
    table = [cell_text(cell) for cell in numbers.cells]
    apart = [c for c in TOLD_APART if len({row[c] for row in table}) > 1]
    missing = any(cell.episodes.missing for cell in numbers.cells)
    first = ["finished", "success"] if missing else ["success"]
    first += ["of what was asked"] if missing else []
    first += ["games solved"] if numbers.trials else []
    if any(cell.measures.maps not in (None, cell.measures.games) for cell in numbers.cells):
        first = ["games", *first]
    columns = [*(apart or ["model"]), *first, *ON_SCREEN[1:]]
    screen = Table(caption="\n".join(notes(numbers)[:-1]), caption_justify="left")
    for column in columns:
        screen.add_column(column)
    for row in table:
        screen.add_row(*(row[column] for column in columns))
    return screen


def rate(value: Rate) -> str:
    """For example "55.0 % [34.2, 74.2] of 20"; a dash for none of none."""
    if value.share is None:
        return "–"
    return f"{100 * value.share:.1f} % {_interval(*value.interval)} of {value.n}"


def _games(games: int, maps: int | None) -> str:
    """For example "50 (20 maps)"."""
    return str(games) if maps is None else f"{games} ({maps} maps)"


def _finished(cell: CellNumbers) -> str:
    episodes = cell.episodes
    left = f", {episodes.missing} without a result" if episodes.missing else ""
    return f"{episodes.finished} of {episodes.asked}{left}"


def _range(value: Range) -> str:
    return _interval(value.low_if_lost, value.high_if_won)


def _interval(low: float, high: float) -> str:
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common()) or "–"


def _mean(value: Mean) -> str:
    return _number(value.mean)


def _with_sd(value: Mean) -> str:
    return f"{_number(value.mean)} ± {_number(value.sd)}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
