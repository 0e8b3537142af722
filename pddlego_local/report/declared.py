"""The comparisons that experiments declare for testing, and what their records say
about the declaration: its commit, and what had been seen before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.record.run_record import RENAMED, Start
from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.settings import (
    BY_DEFAULT,
    COMPARE,
    RECORDED,
    Comparisons,
    Declared,
)
from pddlego_local.runner.sweep import read_compare


@dataclass(frozen=True)
class Declaration:
    """The comparisons that an experiment declared; `compare` is None if it declared
    none. `start` is the first start of a cell with them, None if only a sweep-*.json
    has them.
    """

    folder: Path
    compare: Comparisons | None
    start: Start | None

    @property
    def known_before(self) -> list[str]:
        """The sentences of the declaration about what was known when it was made."""
        config = self.start.config if self.start else {}
        said = {
            "Seen before the declaration": config.get("looked_at"),
            "The setting was chosen in": config.get("setting_from"),
        }
        sentences = []
        for title, text in said.items():
            if text:
                sentences.append(f"{title}: {text.rstrip('.')}.")
        return sentences

    @property
    def history(self) -> str:
        """The commit of the declaration in words, and `known_before`; "" if nothing was
        declared.
        """
        if self.compare is None:
            return ""
        commit = "an unknown commit"
        if self.start and self.start.commit:
            commit = f"commit {self.start.commit:.12}"
            if self.start.dirty:
                commit += ", which had uncommitted changes"
        made = f"{self.folder.name}: these comparisons were declared at {commit}."
        return " ".join([made, *self.known_before])


def declarations(cells: Sequence[CellRecord]) -> list[Declaration]:
    """Returns the declaration of each experiment that the cells belong to. Raises
    ConfigError if a record of declared comparisons is not valid.
    """
    experiments = grouped_by(cells, lambda cell: cell.folder.parent)
    return [_declaration(*experiment) for experiment in experiments.items()]


def _declaration(folder: Path, cells: Sequence[CellRecord]) -> Declaration:
    """Of several declarations, the last one is used. A start that declares nothing
    takes nothing back.
    """
    starts = [start for cell in cells for start in cell.run.starts]
    starts.sort(key=lambda start: start.began)
    recorded = [(start.began, _compare_of(start)) for start in starts]
    recorded += read_compare(folder)
    recorded.sort(key=lambda declared: declared[0])
    given = [compare for _, compare in recorded if compare is not None]
    last = given[-1] if given else None
    with clear_errors(f"{folder}: compare"):
        compare = COMPARE.validate_python(_named_now(last, cells), context=RECORDED)
    for start in starts:
        if _compare_of(start) == last:
            return Declaration(folder, compare, start)
    return Declaration(folder, compare, None)


def _named_now(compare: Any, cells: Sequence[CellRecord]) -> Any:
    """The comparisons as they were written, with the names that their options have now,
    if all cells have a method whose options were renamed.
    """
    targets = {cell.run.identity.get("method", {}).get("_target_") for cell in cells}
    names = RENAMED.get(str(targets.pop()), {}) if len(targets) == 1 else {}
    now = {f"method.{old}": f"method.{new}" for old, new in names.items()}
    if not now or not isinstance(compare, list):
        return compare
    renamed = []
    for declared in compare:
        entry = declared
        if isinstance(entry, dict):
            factor = str(entry.get("factor"))
            entry = {**entry, "factor": now.get(factor, entry.get("factor"))}
            if isinstance(where := entry.get("where"), dict):
                entry["where"] = {now.get(key, key): where[key] for key in where}
        renamed.append(entry)
    return renamed


def _compare_of(start: Start) -> Any:
    return start.config.get("compare")


def declared_by(experiments: Iterable[Declaration]) -> tuple[tuple[Declared, ...], str]:
    """Returns the comparisons to test, each once, and in words where they were
    declared.
    """
    tested = dict[Declared, None]()
    origins = dict[str, None]()
    for experiment in experiments:
        if experiment.compare is None:
            tested |= dict.fromkeys(BY_DEFAULT)
            origins["the default, where nothing is declared"] = None
        else:
            tested |= dict.fromkeys(experiment.compare)
            origins["declared by the experiment"] = None
    return tuple(tested), "; ".join(sorted(origins))
