"""Rows written to one file as they come: CSV, or Parquet with typed columns."""

import csv
import importlib.util
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from pddlego_local.core.errors import ConfigError, MissingPart

Cell = str | int | float | bool | None
Row = Mapping[str, Cell]
Columns = Mapping[str, type]
"""Each of str, int, float or bool; all may be empty."""

_PARQUET = ".parquet"
_ROWS_AT_ONCE = 1000  # in memory


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
