"""The page on described worlds that no training had: its tables are those of the records."""

from collections.abc import Iterable

from pddlego_local.report.numbers import NESTED
from tests.docs.records import RESULTS, Cell, cells, told

PAGE = (RESULTS / "generalize.md").read_text(encoding="utf-8")
HELD_OUT = ("depots", "rover", "sokoban", "spanner")
ARMS = {("free", "none"): "free", ("free", "typed"): "repair", ("typed", "none"): "typed"}
ARMS |= {("grounded", "none"): "grounded"}


def arm(cell: Cell) -> str:
    return ARMS[cell.asks("decoding.rung"), cell.asks("decoding.repair")]


def counted(played: Iterable[Cell]) -> list[int]:
    """Of all games that count: read, accepted, with a plan, valid, equivalent; and their number."""
    rows = [row for cell in played for row in cell.rows]
    nested = [
        sum(not row["causes"].keys().isdisjoint(some) for row in rows) for some in NESTED.values()
    ]
    equivalent = sum(row["notes"].get("equivalence") == "equivalent" for row in rows)
    return [*nested, sum(row["success"] for row in rows), equivalent, len(rows)]


def of_splits() -> list[str]:
    played = cells("generalize/records.tar.xz")
    lines = []
    for split in ("seen", "held out"):
        for text in ("moderately", "naturally"):
            for name in ARMS.values():
                numbers = counted(
                    one
                    for one in played
                    if arm(one) == name
                    and one.asks("environment.text") == text
                    and (one.asks("environment.world") in HELD_OUT) == (split == "held out")
                )
                lines.append(f"| {split} | {text} | `{name}` | {' | '.join(map(str, numbers))} |")
    return lines


def of_worlds() -> list[str]:
    shown: dict[tuple[str, str], dict[str, str]] = {}
    for one in cells("generalize/records.tar.xz"):
        *_, valid, _, many = counted([one])
        place = one.asks("environment.world"), one.asks("environment.text")
        shown.setdefault(place, {})[arm(one)] = f"{valid} of {many}"
    return [
        f"| `{world}` | {text} | {' | '.join(by[name] for name in ARMS.values())} |"
        for (world, text), by in sorted(shown.items())
    ]


def test_the_tables_are_those_of_the_records() -> None:
    tables = [
        line for line in PAGE.splitlines() if " naturally | " in line or "moderately |" in line
    ]
    assert tables == [*of_splits(), *of_worlds()]


def test_the_sentences_are_those_of_the_tables() -> None:
    numbers = {}
    for line in of_splits():
        split, text, name, *counts = (part.strip(" `") for part in line.strip("|").split("|"))
        numbers[split, text, name] = [*map(int, counts)]
    page = told("docs/results/generalize.md")
    valid = {numbers["seen", "moderately", name][3] for name in ARMS.values()}
    assert [f"**: {one} of 158 in every arm" in page for one in valid] == [True]
    free, typed = (numbers["seen", "naturally", name] for name in ("free", "typed"))
    assert f"{free[1]} of 158 free answers and all" in page and typed[1::2] == [158, 1, 158]
    assert f"{free[2]} have a plan freely, and {typed[2]} under `typed`" in page
    solved = [counts[3] for (split, *_), counts in numbers.items() if split == "held out"]
    assert set(solved) == {0} and "none of 160 worlds is solved in any arm" in page
    planned = [numbers["held out", "moderately", name][2] for name in ARMS.values()]
    assert planned == [0, 0, 22, 0] and "and 22 of 80 under `typed` do" in page
