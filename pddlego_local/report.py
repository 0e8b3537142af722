"""From records to tables: reads files only, and never leaves an episode out unsaid.

Every rate has its n and a Wilson interval of 95 %. Games that are over at their first look say
nothing about exploring: they are counted apart.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import binomtest

from pddlego_local.config import parse_games
from pddlego_local.errors import ConfigError
from pddlego_local.record import Row, read_rows

LABELS = ("environment", "method", "model", "decoding")


@dataclass(frozen=True)
class Rate:
    """k of n with its Wilson score interval at 95 %."""

    k: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        found = binomtest(self.k, self.n).proportion_ci(0.95, method="wilson")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        """For example "55.0 % [34.2, 74.2] of 20"; a dash for none of none."""
        if not self.n:
            return "–"
        low, high = self.interval
        return f"{100 * self.k / self.n:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {self.n}"


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
    def settings(self) -> str:
        """What tells this cell from others with the same labels: seed and environment options."""
        identity = self.run["identity"]
        options = {k: v for k, v in identity["environment"].items() if k in ("rooms",)}
        return " ".join([*(f"{k}={v}" for k, v in options.items()), f"seed={identity['seed']}"])


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
            rows = sorted(read_rows(run.parent / "episodes.jsonl"), key=_game_and_trial)
            cells[run.parent] = CellRecord(run.parent, description, rows)
    return list(cells.values())


def summary(cell: CellRecord, *, with_trivial: bool = False) -> dict[str, str]:
    """One line of the table: column → text."""
    trivial = [row for row in cell.rows if row["outcome"] == "success_at_start"]
    rows = [row for row in cell.rows if with_trivial or row not in trivial]
    outcomes = Counter(row["outcome"] for row in rows)
    causes: Counter[str] = Counter()
    for row in rows:
        causes.update(row["causes"])
    missing = cell.asked - len(cell.rows)
    return {
        **{label: cell.run["labels"][label] for label in LABELS},
        "settings": cell.settings,
        "no result": str(missing) if missing > 0 else "0",
        "success": str(Rate(sum(row["success"] for row in rows), len(rows))),
        "won": str(sum(row["won"] for row in rows)),
        "outcomes": _counts(outcomes),
        "at start": str(len(trivial)),
        "steps": _mean(rows, "steps"),
        "actions": _mean(rows, "actions"),
        "calls": _mean(rows, "calls"),
        "PDDL": _counts(causes),
        "solver errors fixed": _fixed(rows, "solver_errors"),
        "simulation errors fixed": _fixed(rows, "simulation_errors"),
        "tokens": _mean(rows, "completion_tokens"),
        "wall s": _mean(rows, "wall_time_s"),
    }


def markdown(table: Sequence[dict[str, str]]) -> str:
    """A table of equal-keyed rows as GitHub Markdown."""
    columns = list(table[0])
    lines = [columns, ["---"] * len(columns), *([row[c] for c in columns] for row in table)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common()) or "–"


def _mean(rows: list[Row], key: str) -> str:
    return f"{fmean(row[key] for row in rows):.1f}" if rows else "–"


def _fixed(rows: list[Row], key: str) -> str:
    errors = sum(row[key] for row in rows)
    return f"{sum(row[f'{key}_fixed'] for row in rows)} of {errors}"


def _game_and_trial(row: dict[str, Any]) -> tuple[int, int]:
    return row["game"], row["trial"]
