"""What experiments declare that their reports shall test; when they did, as far as records tell;
and which games records of the same weights had played by then."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from pddlego_local.core.record.counting import Cluster
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.run_record import Start
from pddlego_local.report.arms import Arm
from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.settings import BY_DEFAULT, COMPARE, Comparisons, Declared
from pddlego_local.runner.sweep import read_compare


class Recorded(NamedTuple):
    """`compare` as a start of a cell recorded it, or sweep.json, which has no start."""

    began: str
    compare: Any
    start: Start | None


@dataclass(frozen=True)
class Declaration:
    """Of one experiment, whose cells these are."""

    folder: Path
    cells: Sequence[CellRecord]

    @cached_property
    def _recorded(self) -> list[Recorded]:
        """The first that has what was declared last, and whatever followed; none if nothing was."""
        starts = [start for cell in self.cells for start in cell.run.starts]
        every = [Recorded(start.began, start.config.get("compare"), start) for start in starts]
        every.append(Recorded(*read_compare(self.folder), None))
        # In one second the last one counts: a sweep is written before its cells begin.
        given = sorted((r for r in every if r.compare is not None), key=lambda r: r.began)
        return [*takewhile(lambda r: r.compare == given[-1].compare, reversed(given))][::-1]

    @property
    def _first(self) -> tuple[str, Start | None]:
        """When it was first recorded, and the first start that has it, which knows the commit."""
        start = next((one.start for one in self._recorded if one.start), None)
        return self._recorded[0].began if self._recorded else "", start

    @property
    def compare(self) -> Comparisons | None:
        """Raises ConfigError for what is none."""
        with clear_errors(f"{self.folder}: compare"):
            return COMPARE.validate_python(self._recorded[0].compare if self._recorded else None)

    @property
    def at(self) -> str:
        """By when it was declared: when its commit was made, if that is known and holds it, else
        when the first start with it began; "" where nothing was declared or no time is known."""
        began, start = self._first
        typed = any(word.startswith("compare") for word in (start and start.command) or ())
        return (not typed and start and not start.dirty and start.committed) or began

    @property
    def first_row(self) -> str:
        """When the first cell with rows began: a row has no time of its own."""
        return min((cell.run.starts[0].began for cell in self.cells if cell.rows), default="")

    def __str__(self) -> str:
        if not self._recorded:
            return ""
        began, start = self._first
        commit = f"commit {start.commit:.12}" if start and start.commit else "an unknown commit"
        made = start and start.committed
        sentences = [
            f"{self.folder.name}: these comparisons were first recorded at {began or 'no time'}, "
            f"at {commit}.",
            f"The commit was made at {made}." if made else "When it was made is not recorded.",
            "It had uncommitted changes." * bool(start and start.dirty),
            f"The first cell with rows began at {self.first_row or 'no recorded time'}.",
            "These comparisons were declared after the first rows."
            if self.first_row < self.at
            else "",
        ]
        return " ".join(filter(None, sentences))


def declarations(cells: Sequence[CellRecord]) -> list[Declaration]:
    """Of each experiment that the cells belong to."""
    folders = dict.fromkeys(cell.folder.parent for cell in cells)
    return [Declaration(one, [c for c in cells if c.folder.parent == one]) for one in folders]


def declared_by(experiments: Iterable[Declaration]) -> tuple[tuple[Declared, ...], str]:
    """The comparisons that shall be tested, each once, and in words who declared them. Raises
    ConfigError for a record that names none."""
    declared = [one.compare for one in experiments]
    every = [one for of in declared for one in (BY_DEFAULT if of is None else of)]
    origins = ["declared by the experiment"] if any(of is not None for of in declared) else []
    origins += ["the default, where nothing is declared"] if None in declared else []
    return tuple(dict.fromkeys(every)), "; ".join(origins)


def games_before(
    arms: Sequence[Arm], experiments: Iterable[Declaration], older: Iterable[CellRecord]
) -> set[tuple[str, Cluster]]:
    """Games of these arms, by what makes them and their number, that other records of the same
    weights had played before their experiment declared its comparisons. A start counts if it began
    before. Rules have no weights."""
    time = max(one.at for one in experiments if arms[0].first in one.cells)
    weights = {arm.first.run.model.get("fingerprint") for arm in arms} - {None}
    before = set[object]()
    for cell in older:
        starts = [start for start in cell.run.starts if "" < start.began < time]
        if starts and cell.run.model.get("fingerprint") in weights:
            asked = set[tuple[int, int]]().union(*(start.episodes for start in starts))
            rows = [row for row in cell.rows if (row.game, row.trial) in asked]
            arm = Arm((cell,))
            before.update(name for row in rows for name in _names(arm, row))
    return {
        (arm.games, row.game)
        for arm in arms
        for row in arm.rows.values()
        if not before.isdisjoint(_names(arm, row))
    }


def _names(arm: Arm, row: EpisodeRow) -> Iterator[object]:
    """What tells that a row of another record is of the same game: the options that make the games
    and its number, or the environment, its map and its number."""
    yield arm.games, row.game
    if row.map:
        yield arm.environment, row.map, row.game
