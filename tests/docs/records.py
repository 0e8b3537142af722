"""The records that ship, read from their archives; what a page says, on one line."""

import functools
import json
import tarfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import binomtest

from pddlego_local.report.numbers import NESTED

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs/results"
ARMS = ("free", "repair", "typed", "grounded")  # of the experiments in described worlds
Row = dict[str, Any]


class Cell(NamedTuple):
    """`rows` are the games that count: neither solved at the start nor on a map of training."""

    sweep: str
    run: dict[str, Any]
    rows: list[Row]
    finished: int  # rows in all

    def asks(self, option: str) -> Any:
        """An option of what was played, as `decoding.rung`; None if it has none."""
        found: Any = self.run["identity"]
        for key in option.split("."):
            found = found.get(key)
        return found

    def total(self, *names: str) -> int:
        return sum(row[name] for row in self.rows for name in names)

    def mean(self, name: str) -> float:
        return self.total(name) / len(self.rows)

    def causes(self) -> Counter[str]:
        return sum((Counter(row["causes"]) for row in self.rows), Counter[str]())


def counts(row: Row) -> bool:
    return row["outcome"] != "success_at_start" and not row.get("map_seen")


@functools.cache
def cells(archive: str) -> tuple[Cell, ...]:
    """Of an archive, or of a folder of cells, below docs/results."""
    place = RESULTS / archive
    files = dict[str, str]()
    if place.is_dir():
        files = {
            str(file.relative_to(place.parent)): file.read_text(encoding="utf-8")
            for file in place.rglob("*.json*")
        }
    else:
        with tarfile.open(place) as packed:
            for member in packed:
                if member.name.endswith(("run.json", "episodes.jsonl")):
                    content = packed.extractfile(member)
                    assert content
                    files[member.name.removeprefix("./")] = content.read().decode()
    found = []
    for name in sorted(files):
        if name.endswith("run.json"):
            lines = files[name.replace("run.json", "episodes.jsonl")].splitlines()
            left = [row for row in map(json.loads, lines) if counts(row)]
            found.append(Cell(name.split("/")[0], json.loads(files[name]), left, len(lines)))
    return tuple(found)


def with_options(played: tuple[Cell, ...], **options: Any) -> list[Cell]:
    """Those with these options; `__` stands for a dot."""
    wanted = {name.replace("__", "."): value for name, value in options.items()}
    return [one for one in played if all(one.asks(key) == wanted[key] for key in wanted)]


def won(played: tuple[Cell, ...], **options: Any) -> dict[tuple[Any, int], bool]:
    """Of the cells with these options: by rooms and game, whether it was won."""
    return {
        (cell.asks("environment.rooms"), row["game"]): row["won"]
        for cell in with_options(played, **options)
        for row in cell.rows
    }


def gained_and_lost(one: dict[Any, bool], other: dict[Any, bool]) -> tuple[int, int, float]:
    """Games that only the other wins, that only the first wins, and McNemar's exact p."""
    assert one.keys() == other.keys()
    gained = sum(other[game] and not one[game] for game in one)
    lost = sum(one[game] and not other[game] for game in one)
    return gained, lost, float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def arm(cell: Cell) -> str:
    return str(cell.asks("decoding.rung")) if cell.asks("decoding.repair") == "none" else "repair"


def counted(played: Iterable[Cell]) -> list[int]:
    """Of all games that count: read, accepted, with a plan, valid, equivalent; and their number."""
    rows = [row for cell in played for row in cell.rows]
    nested = [sum(bool({*row["causes"]} & {*some}) for row in rows) for some in NESTED.values()]
    equivalent = sum(row["notes"].get("equivalence") == "equivalent" for row in rows)
    return [*nested, sum(row["success"] for row in rows), equivalent, len(rows)]


def told(page: str) -> str:
    """A page's text as one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())
