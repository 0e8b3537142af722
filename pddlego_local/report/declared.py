"""The comparisons that experiments declare for testing, the time of the declaration as
far as records tell, and the games that records of the same weights had played before.
"""

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
    """`compare` as recorded by a start of a cell, or by a sweep-*.json, which has no
    start.
    """

    began: str
    compare: Any
    start: Start | None


@dataclass(frozen=True)
class Declaration:
    """The comparisons that one experiment declared. `cells` are the cells of the
    experiment.
    """

    folder: Path
    cells: Sequence[CellRecord]

    @cached_property
    def _recorded(self) -> list[Recorded]:
        """The first record of the latest declaration, and the records after it; empty
        if none.
        """
        starts = [start for cell in self.cells for start in cell.run.starts]
        every = [
            Recorded(start.began, start.config.get("compare"), start)
            for start in starts
        ]
        every += [Recorded(*sweep, None) for sweep in read_compare(self.folder)]
        # Times are in seconds. Of equal times the last one is used: a sweep-*.json is
        # written before its cells begin.
        given = sorted(
            (r for r in every if r.compare is not None), key=lambda r: r.began
        )
        return [*takewhile(lambda r: r.compare == given[-1].compare, reversed(given))][
            ::-1
        ]

    @property
    def _first(self) -> tuple[str, Start | None]:
        """The time of the first record, and the first start with it, which knows the
        commit.
        """
        start = next((one.start for one in self._recorded if one.start), None)
        return self._recorded[0].began if self._recorded else "", start

    @property
    def compare(self) -> Comparisons | None:
        """The declared comparisons, None if none. Raises ConfigError if they are not
        valid.
        """
        with clear_errors(f"{self.folder}: compare"):
            return COMPARE.validate_python(
                self._recorded[0].compare if self._recorded else None
            )

    @property
    def at(self) -> str:
        """The time by which the comparisons were declared.

        It is the time of the commit if that is known and the commit contains them, and
        otherwise the time of the first start with them. "" if nothing was declared or
        no time is known.
        """
        began, start = self._first
        typed = any(
            word.startswith("compare") for word in (start and start.command) or ()
        )
        return (not typed and start and not start.dirty and start.committed) or began

    @property
    def first_row(self) -> str:
        """The time when the first cell with rows began; rows do not have times."""
        return min(
            (cell.run.starts[0].began for cell in self.cells if cell.rows), default=""
        )

    @property
    def known_before(self) -> list[str]:
        """The sentences of the declaration about what was known when it was made."""
        config = start.config if (start := self._first[1]) else {}
        said = {
            "Seen before the declaration": config.get("looked_at"),
            "The setting was chosen in": config.get("setting_from"),
        }
        return [f"{title}: {text.rstrip('.')}." for title, text in said.items() if text]

    def __str__(self) -> str:
        if not self._recorded:
            return ""
        began, start = self._first
        commit = (
            f"commit {start.commit:.12}"
            if start and start.commit
            else "an unknown commit"
        )
        made = start and start.committed
        sentences = [
            (
                f"{self.folder.name}: these comparisons were first recorded at"
                f" {began or 'no time'}, at {commit}."
            ),
            (
                f"The commit was made at {made}."
                if made
                else "When it was made is not recorded."
            ),
            "The working tree had uncommitted changes." * bool(start and start.dirty),
            (
                "The first cell with rows began at"
                f" {self.first_row or 'no recorded time'}."
            ),
            (
                "These comparisons were declared after the first rows."
                if self.first_row < self.at
                else ""
            ),
            *self.known_before,
        ]
        return " ".join(filter(None, sentences))


def declarations(cells: Sequence[CellRecord]) -> list[Declaration]:
    """Returns the declaration of each experiment that the cells belong to."""
    folders = dict.fromkeys(cell.folder.parent for cell in cells)
    return [
        Declaration(one, [c for c in cells if c.folder.parent == one])
        for one in folders
    ]


def declared_by(experiments: Iterable[Declaration]) -> tuple[tuple[Declared, ...], str]:
    """Returns the comparisons to test, each once, and in words where they were
    declared. Raises ConfigError if a record of declared comparisons is not valid.
    """
    declared = [one.compare for one in experiments]
    every = [one for of in declared for one in (BY_DEFAULT if of is None else of)]
    origins = (
        ["declared by the experiment"] if any(of is not None for of in declared) else []
    )
    origins += ["the default, where nothing is declared"] if None in declared else []
    return tuple(dict.fromkeys(every)), "; ".join(origins)


def games_before(
    arms: Sequence[Arm], experiments: Iterable[Declaration], older: Iterable[CellRecord]
) -> set[tuple[str, Cluster]]:
    """Returns the games of these arms that records of the same weights had played
    before the experiment declared its comparisons.

    A game is identified by the options that determine it and its number. A record's
    episodes are included if the start that requested them began before the declaration.
    Rules have no weights, so their records are ignored.
    """
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
    """Identifies the game of a row across records: by the options that determine the
    games and its number, and by its environment, map and number.
    """
    yield arm.games, row.game
    if row.map:
        yield arm.environment, row.map, row.game
