"""Tables as CSV files."""

import csv
import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.report.comparisons import Side
from pddlego_local.report.statistics.rates import Mean, Rate

Cell = str | int | float | bool | None
Row = Mapping[str, Cell]


def columns(row: Any) -> dict[str, Cell]:
    """A row of `report.numbers`, flat: {"success_k": 3, "success_n": 4, "success_low": 0.3, …}.

    Shares and intervals go from 0 to 1; what is undefined (a mean of nothing) is None.
    """
    return dict(_flat(row, ""))


def _flat(value: Any, name: str) -> Iterator[tuple[str, Cell]]:
    if isinstance(value, Rate):
        low, high = value.interval if value.n else (None, None)
        parts = {"k": value.k, "n": value.n, "share": value.share, "low": low, "high": high}
        yield from ((f"{name}_{part}", number) for part, number in parts.items())
    elif isinstance(value, Mean):
        yield from ((f"{name}_{part}", number) for part, number in vars(value).items())
    elif isinstance(value, Counter):
        for key in CAUSES if name == "causes" else OUTCOMES:
            yield f"{name}_{key}", value[key]
    elif isinstance(value, Mapping):
        yield from value.items()
    elif dataclasses.is_dataclass(value):
        prefix = f"{name}_" if isinstance(value, Side) else ""
        for field in dataclasses.fields(value):
            yield from _flat(getattr(value, field.name), prefix + field.name)
    elif hasattr(value, "_asdict"):  # an interval
        yield from ((f"{name}_{end}", number) for end, number in value._asdict().items())
    elif isinstance(value, tuple):
        if name != "discordant":  # episodes, which have tables of their own
            yield name, "; ".join(value)
    else:
        yield name, int(value) if isinstance(value, bool) else value


def write_csv(path: Path, rows: Iterable[Row], names: Iterable[str]) -> int:
    """`names` are the columns; returns how many rows. Half a surrogate pair becomes a "?".

    Raises OSError.
    """
    count = 0
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, list(names))
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            count += 1
    return count
