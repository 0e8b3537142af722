"""Tables as files: CSV, and Parquet with typed columns."""

import csv
import dataclasses
import importlib.util
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.report.comparisons import Side
from pddlego_local.report.statistics.rates import Mean, Rate

Cell = str | int | float | bool | None
Row = Mapping[str, Cell]
Columns = Mapping[str, type]
"""Each of str, int, float or bool; all may be empty."""

_PARQUET = ".parquet"
_ROWS_AT_ONCE = 1000  # in memory


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


def check_name(path: Path) -> None:
    """Raises ConfigError for a name that promises another format, MissingPart if Parquet is asked
    for and cannot be written here."""
    if path.suffix not in ("", ".csv", _PARQUET):
        raise ConfigError(f"--out {path}: give it a name that ends in .csv or .parquet")
    if path.suffix == _PARQUET and importlib.util.find_spec("pyarrow") is None:
        raise MissingPart(
            "Parquet needs pyarrow: `pip install 'pddlego_local[parquet]'`, in a checkout "
            "`.venv/bin/pip install --editable '.[parquet]'`; or name a file that ends in .csv."
        )


def write_table(path: Path, columns: Columns, rows: Iterable[Row]) -> int:
    """By the name's ending; returns how many rows. Half a surrogate pair becomes a "?".

    Raises as `check_name`, and OSError.
    """
    check_name(path)
    if path.suffix == _PARQUET:
        return _parquet(path, columns, rows)
    return write_csv(path, rows, columns)


def write_csv(path: Path, rows: Iterable[Row], names: Iterable[str]) -> int:
    """`names` are the columns. As `write_table`."""
    count = 0
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, list(names))
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


def _parquet(path: Path, columns: Columns, rows: Iterable[Row]) -> int:
    import pyarrow
    from pyarrow import parquet

    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    types[bool] = pyarrow.bool_()
    schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
    count, left = 0, iter(rows)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while part := list(islice(left, _ROWS_AT_ONCE)):
            plain = [{name: _whole(value) for name, value in row.items()} for row in part]
            writer.write_table(pyarrow.Table.from_pylist(plain, schema))
            count += len(part)
    return count


def _whole(value: Cell) -> Cell:
    """Without halves of surrogate pairs."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value
