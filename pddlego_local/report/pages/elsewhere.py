"""The same game elsewhere: played by the arms that differ from a cell in one thing."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pddlego_local.report.cells import LABELS, CellRecord, varying_options

BUDGET = "budget"

Row = tuple[str, Sequence[tuple[str, int]]]
"""What differs, and for each cell that has another value of it, and the cell itself, the value and
the cell's number."""


def arms_beside(cells: Sequence[CellRecord]) -> list[list[Row]]:
    """Of each cell, in their order."""
    found: list[list[Row]] = [[] for _ in cells]
    for group in _groups(cells):
        alike: dict[str, list[int]] = defaultdict(list)
        for number, cell in enumerate(cells):
            alike[_all_but(group, cell)].append(number)
        for numbers in alike.values():
            names = _names(group, [cells[number] for number in numbers])
            row = (group, list(zip(names, numbers, strict=True)))
            for number in numbers if len(set(names)) > 1 else ():
                found[number].append(row)
    return found


def _groups(cells: Iterable[CellRecord]) -> Iterator[str]:
    """What two arms may differ in that play the same games: the rung first."""
    settings = [name for cell in cells for name in cell.run.identity if name != "environment"]
    yield from dict.fromkeys(["decoding", "model", "method", *settings, BUDGET])


def _all_but(group: str, cell: CellRecord) -> str:
    """What the cells of a row have alike."""
    identity, labels = dict(cell.run.identity), dict(cell.run.labels)
    if group == BUDGET:
        identity["environment"] = {**identity["environment"], BUDGET: 0}
    kept = ({k: v for k, v in facts.items() if k != group} for facts in (identity, labels))
    return json.dumps([*kept], sort_keys=True)


def _names(group: str, cells: Sequence[CellRecord]) -> list[str]:
    """The label, and the settings that tell cells of one label apart."""
    if group == BUDGET:
        return [cell.budget for cell in cells]
    varying = {name for name in varying_options(cells) if name.partition(".")[0] == group}
    labels = [cell.labels[group] if group in LABELS else "" for cell in cells]
    settings = [cell.settings(varying).replace(f"{group}.", "") for cell in cells]
    return [
        f"{label} {told}".strip().removeprefix(f"{group}=")
        for label, told in zip(labels, settings, strict=True)
    ]
