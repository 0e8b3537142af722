"""Functions for `planetarium.py` and `text2world.py`: they read the command line and
the rows, check the gold files, write the folders, and count the rows that cannot be
converted.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.described.wording import heads_of
from pddlego_local.environments.described.world import HEADS, heads_in, in_order
from pddlego_local.pddl.check import check

Row = Mapping[str, Any]


class LeftOut(Exception):
    """The message says why a row cannot be converted."""


def text_in(row: Row, column: str) -> str:
    """Returns the text of a row. Raises LeftOut if there is none; pandas reads it as
    NaN then.
    """
    text = row[column]
    if not isinstance(text, str) or not text.strip():
        raise LeftOut(f"the column {column} is empty")
    return text.strip()


def with_heads(text: str, domain: str) -> str:
    """Returns a domain's text with the action heads of its gold file. Raises
    ConfigError if an action has a name or parameters that no action head can have.
    """
    told = f"{text}\n\n{HEADS}\n{heads_of(domain)}\n"
    heads_in(told, "the gold domain")
    return told


def check_gold(domain: str, problem: str) -> None:
    """Raises LeftOut with the first fault for which the planner's translator refuses
    the files.
    """
    for fault in check(in_order(domain), in_order(problem)).faults:
        if fault.kind != "warning":
            raise LeftOut(f"the planner refuses the gold {fault.file}: {fault.message}")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Writes text files. Raises LeftOut if a file of this name is there with another
    text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        file = folder / name
        if file.exists() and file.read_text(encoding="utf-8") != text:
            raise LeftOut("another row has the same id")
        file.write_text(text, encoding="utf-8")


def arguments(description: str, *paths: str) -> argparse.Namespace:
    """Returns the paths and the limit of the command line. Exits if the output exists
    already.
    """
    parser = argparse.ArgumentParser(description=description)
    for name in ("rows", *paths, "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help=(
            "convert at most N rows (of each domain, if a set has several rows for one)"
        ),
    )
    given = parser.parse_args()
    if given.out.exists():
        parser.error(f"{given.out} exists already: name a new folder")
    return given


def rows_with(
    columns: tuple[str, ...], read: Callable[[Path], Iterable[Row]], path: Path
) -> list[Row]:
    """Returns the rows of a file. Exits with a message if it cannot be read or lacks a
    column.
    """
    try:
        rows = list(read(path))
    except ImportError:
        raise SystemExit("a parquet file needs pyarrow: pip install pyarrow") from None
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} cannot be read: {error}") from error
    missing = [key for key in columns if not all(key in row for row in rows)]
    if missing:
        raise SystemExit(f"{path} lacks the columns {', '.join(missing)}")
    return rows


def convert_all(
    rows: list[Row], convert: Callable[[Row], None], most: int | None, group: str = ""
) -> None:
    """Converts the rows, at most `most` for each value of the column `group`. Prints
    how many were converted, and why the others were not. Exits with 0, or with 1 if
    none was converted.
    """
    made: Counter[Any] = Counter()
    left: Counter[str] = Counter()
    for row in rows:
        kind = row.get(group)
        if made[kind] == most:
            left["--limit is reached"] += 1
            continue
        try:
            convert(row)
            made[kind] += 1
        except (LeftOut, ConfigError) as refusal:
            left[str(refusal)] += 1
    print(f"{made.total()} of {len(rows)} rows converted")
    for reason, count in left.most_common():
        print(f"{count} left out: {reason}")
    raise SystemExit(not made.total())
