"""Numbers as columns of a table: one number, one column, nothing to parse."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.report.comparisons import PerSuccess, Side
from pddlego_local.report.statistics.rates import Mean, Rate
from pddlego_local.report.table_file import Cell

PREFIXED = (Side, PerSuccess)
"""Their columns begin with the name of the field that holds them."""


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
    elif hasattr(value, "_asdict"):  # an interval
        yield from ((f"{name}_{end}", number) for end, number in value._asdict().items())
    elif isinstance(value, tuple):
        if name != "discordant":  # episodes, which have tables of their own
            yield name, "; ".join(value)
    else:
        yield name, int(value) if isinstance(value, bool) else value
