"""The records that ship, read by the report's own functions."""

import functools
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.record.counting import counted
from pddlego_local.core.record.events import Call, Event
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, Cells, find_cells
from pddlego_local.report.comparisons import Compared, compared

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs/results"


@dataclass(frozen=True)
class Records:
    """Archives below docs/results. Each is unpacked into `folder` when it is first
    used.
    """

    folder: Path

    @functools.cache  # noqa: B019 - there is one object, which lives as long as the command
    def sweep(self, archive: str, name: str) -> Cells:
        """Returns the cells of the sweep `name` in an archive, or in a folder, such as
        "nano/fresh_records.tar.xz"."""
        path = RESULTS / archive
        if path.is_dir():
            return find_cells([path])
        return find_cells([self._unpacked(path) / name])

    @functools.cache  # noqa: B019
    def compared(self, archive: str, name: str) -> Compared:
        """Returns the comparisons that the report of this sweep makes."""
        return compared(self.sweep(archive, name))

    @functools.cache  # noqa: B019
    def _unpacked(self, archive: Path) -> Path:
        folder = self.folder / archive.relative_to(RESULTS).as_posix().replace("/", "-")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        return folder


def scored(cell: CellRecord) -> list[EpisodeRow]:
    """Returns the rows of the cell that count: neither trivial nor on a map of the
    training.
    """
    return counted(cell.rows).counted


def calls(cell: CellRecord) -> Iterator[list[Call]]:
    """Yields the calls of each scored episode."""
    for events in transcripts(cell):
        yield [event for event in events if isinstance(event, Call)]


def transcripts(cell: CellRecord) -> Iterator[list[Event]]:
    """Yields the events of each scored episode."""
    for row in scored(cell):
        events, problem = cell.events(row)
        if problem:
            raise ValueError(problem)
        yield events
