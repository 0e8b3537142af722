"""What was asked of some cells: by their records, or on the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.compare import BY_DEFAULT, Asked, asked_for, declared_in
from pddlego_local.runner.config import clear_errors
from pddlego_local.runner.sweep_record import read_asked


@dataclass(frozen=True)
class Questions:
    """Each comparison once; `origin` says who asked."""

    asked: Asked
    origin: str


def questions(cells: Sequence[CellRecord], words: Sequence[str] = ()) -> Questions:
    """Those of the experiments that the cells are of, or of --compare in their place.

    Raises ConfigError for words, or a record, that name no comparison.
    """
    if words:
        with clear_errors("--compare"):
            return Questions(asked_for(words), "asked with --compare, not declared beforehand")
    declared: list[Asked | None] = []
    for folder in dict.fromkeys(cell.folder.parent for cell in cells):
        with clear_errors(f"{folder}: compare"):
            declared.append(declared_in(_latest(folder, cells)))
    asked = [one for entries in declared for one in (BY_DEFAULT if entries is None else entries)]
    origins = ["declared by the experiment"] if any(one is not None for one in declared) else []
    origins += ["the default, where nothing is declared"] if None in declared else []
    return Questions(tuple(dict.fromkeys(asked)), "; ".join(origins))


def _latest(experiment: Path, cells: Sequence[CellRecord]) -> Any:
    """The last `compare` that a start of these cells, or their sweep, has recorded."""
    own = [cell for cell in cells if cell.folder.parent == experiment]
    starts = [start for cell in own for start in cell.run.starts]
    told = [(start.began, start.config.get("compare")) for start in starts]
    told.append(read_asked(experiment))
    given = [(began, asked) for began, asked in told if asked is not None]
    return max(given, key=lambda one: one[0])[1] if given else None
