"""From records to tables: reads files only, and never leaves an episode out unsaid.

Every rate has its n and a Wilson interval of 95 %. Games that are over at their first look say
nothing about exploring: they are counted apart.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pddlego_local.config import parse_games
from pddlego_local.errors import ConfigError
from pddlego_local.metrics import Rate, measure
from pddlego_local.record import Row, read_rows
from pddlego_local.trials import success_after_trials

LABELS = ("environment", "method", "model", "decoding")


@dataclass(frozen=True)
class CellRecord:
    """A cell as it lies on disk."""

    folder: Path
    run: Row
    rows: list[Row]

    @property
    def asked(self) -> int:
        """How many episodes the last start of this cell asked for."""
        config = self.run["starts"][-1]["config"]
        return len(parse_games(config["games"])) * int(config["trials"])

    @property
    def budget(self) -> str:
        """For example "50 actions": what every method of a comparison must have alike."""
        budget = self.run["identity"]["environment"]["budget"]
        return f"{budget['limit']} {budget['unit']}"

    @property
    def options(self) -> dict[str, str]:
        """Every option that changes results, as "method.variant": "simple"; labels left out."""
        return dict(_flat(self.run["identity"]))


def find_cells(paths: Iterable[Path]) -> list[CellRecord]:
    """Every cell at or below the given folders. Raises ConfigError if one holds none."""
    cells = {}
    for path in paths:
        found = sorted(path.rglob("run.json"))
        if not found:
            raise ConfigError(f"{path}: no run.json at or below this folder")
        for run in found:
            try:
                description = json.loads(run.read_text())
            except ValueError as error:
                raise ConfigError(f"{run} is not JSON: {error}") from error
            if "environment" not in description:
                raise ConfigError(
                    f"{run} was recorded by an older version: report it with that one"
                )
            rows = sorted(read_rows(run.parent / "episodes.jsonl"), key=_game_and_trial)
            cells[run.parent] = CellRecord(run.parent, description, rows)
    return list(cells.values())


def tables(
    cells: Sequence[CellRecord], *, with_trivial: bool = False
) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """One line per cell, and one per cell and group of tasks: column → text."""
    varying = _varying(cells)
    lines, by_group = [], []
    for cell in cells:
        labels = {label: cell.run["labels"][label] for label in LABELS}
        told_apart = {
            **labels,
            "settings": " ".join(f"{k}={v}" for k, v in cell.options.items() if k in varying),
            "budget": cell.budget,
        }
        lines.append({**told_apart, **summary(cell, with_trivial=with_trivial)})
        for group, rows in _by_group(cell).items():
            by_group.append({**told_apart, "tasks": group, "success": str(measure(rows).success)})
    return lines, by_group


def summary(cell: CellRecord, *, with_trivial: bool = False) -> dict[str, str]:
    """The measures of one cell as text; games that are over at the first look are left out."""
    trivial = [row for row in cell.rows if row["outcome"] == "success_at_start"]
    unsolvable = [row for row in cell.rows if row["outcome"] == "unsolvable_game"]
    rows = [r for r in cell.rows if r not in unsolvable and (with_trivial or r not in trivial)]
    rows = [row for row in rows if row["outcome"] != "solved_before"]  # not played again
    found = measure(rows)
    missing = cell.asked - len(cell.rows)
    return {
        "no result": str(missing) if missing > 0 else "0",
        "success": str(found.success),
        "won": str(found.won),
        "outcomes": _counts(Counter(row["outcome"] for row in rows)),
        "at start": str(len(trivial)),
        "unsolvable": str(len(unsolvable)),
        "steps": _number(_mean(rows, "steps")),
        "steps on success": _number(found.steps_on_success),
        "steps on failure": _number(found.steps_on_failure),
        "actions": _number(found.actions),
        "actions on success": (
            f"{_number(found.actions_on_success)} ± {_number(found.actions_on_success_sd)}"
        ),
        "refused actions": _number(found.refused_actions),
        "calls": _number(_mean(rows, "calls")),
        "answers": _counts(found.causes),
        "solver errors": str(found.solver_errors),
        "solver errors fixed": str(found.solver_fixed),
        "solver aborts": str(found.solver_aborts),
        "simulation errors": str(found.simulation_errors),
        "simulation errors fixed": str(found.simulation_fixed),
        "simulation aborts": str(found.simulation_aborts),
        "edit faults": str(found.edit_faults),
        "tokens": _number(_mean(rows, "completion_tokens")),
        "wall s": _number(_mean(rows, "wall_time_s")),
    }


def after_trials(cells: Sequence[CellRecord]) -> list[dict[str, str]]:
    """Success after trial 1, 2, …, N: one line per cell of several trials and task type."""
    lines = []
    for cell in cells:
        if max((row["trial"] for row in cell.rows), default=0) == 0:
            continue
        for task_type, counts in success_after_trials(cell.rows).items():
            lines += [
                {
                    **{label: cell.run["labels"][label] for label in LABELS},
                    "tasks": task_type,
                    "after trial": str(trial),
                    "success": str(Rate(*count)),
                }
                for trial, count in enumerate(counts, start=1)
            ]
    return lines


def _varying(cells: Sequence[CellRecord]) -> set[str]:
    """Options that differ between cells with the same labels; the seed always counts."""
    values: dict[tuple[object, ...], dict[str, set[str]]] = {}
    for cell in cells:
        alike = values.setdefault(tuple(cell.run["labels"][label] for label in LABELS), {})
        for key, value in cell.options.items():
            alike.setdefault(key, set()).add(value)
    differing = [k for alike in values.values() for k, found in alike.items() if len(found) > 1]
    return {"seed", *differing}


def _by_group(cell: CellRecord) -> dict[str, list[Row]]:
    """Rows by the environment's groups of task types, in its order; games as they are named."""
    groups = cell.run["task_groups"]
    found: dict[str, list[Row]] = {name: [] for name in groups}
    for row in cell.rows:
        if row["outcome"] in ("success_at_start", "unsolvable_game", "solved_before"):
            continue
        kind = row["task_type"]
        name = next((group for group, kinds in groups.items() if kind in kinds), kind)
        found.setdefault(name, []).append(row)
    return {name: rows for name, rows in found.items() if rows}


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif key != "_target_":
            yield f"{prefix}{key}", str(value)


def markdown(table: Sequence[dict[str, str]]) -> str:
    """A table of equal-keyed rows as GitHub Markdown; "" for no rows."""
    if not table:
        return ""
    columns = list(table[0])
    lines = [columns, ["---"] * len(columns), *([row[c] for c in columns] for row in table)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common()) or "–"


def _mean(rows: list[Row], key: str) -> float | None:
    return fmean(row[key] for row in rows) if rows else None


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _game_and_trial(row: dict[str, Any]) -> tuple[int, int]:
    return row["game"], row["trial"]
