"""Numbers as CSV: one number, one column, nothing to parse."""

import csv
import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.report.comparisons import Interval, PerSuccess, Side
from pddlego_local.report.numbers import Range
from pddlego_local.report.statistics.rates import Mean, Rate

Cell = str | int | float | None
PREFIXED = (Range, Interval, Side, PerSuccess)
"""Their columns begin with the name of the field that holds them."""


def columns(row: Any) -> dict[str, Cell]:
    """A row of `report.numbers`, flat: {"success_k": 3, "success_n": 4, "success_low": 0.3, …}.

    Shares and intervals go from 0 to 1; what is undefined (a mean of nothing) is None.
    """
    return dict(_flat(row, ""))


def write_csv(path: Path, rows: Sequence[Any]) -> None:
    """All rows are of one kind. Raises OSError."""
    lines = [columns(row) for row in rows]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]) if lines else [])
        writer.writeheader()
        writer.writerows(lines)


def _flat(value: Any, name: str) -> Iterator[tuple[str, Cell]]:
    if isinstance(value, Rate):
        low, high = value.interval if value.n else (None, None)
        parts = {"k": value.k, "n": value.n, "share": value.share, "low": low, "high": high}
        yield from ((f"{name}_{part}", number) for part, number in parts.items())
    elif isinstance(value, Mean):
        yield f"{name}_mean", value.mean
        yield f"{name}_sd", value.sd
        yield f"{name}_n", value.n
    elif isinstance(value, Counter):
        for key in CAUSES if name == "causes" else OUTCOMES:
            yield f"{name}_{key}", value[key]
    elif isinstance(value, Mapping):
        yield from value.items()
    elif dataclasses.is_dataclass(value):
        prefix = f"{name}_" if isinstance(value, PREFIXED) else ""
        for field in dataclasses.fields(value):
            yield from _flat(getattr(value, field.name), prefix + field.name)
    elif isinstance(value, tuple):
        if name != "taken":  # a table of its own: `comparisons.transitions`
            yield name, "; ".join(value)
    else:
        yield name, int(value) if isinstance(value, bool) else value
