"""The episodes of a report as its pages list them, and which of them stand beside each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote

from pddlego_local.core.record.counting import reasons
from pddlego_local.core.record.folder import transcript_of
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.pages.elsewhere import Row

Key = tuple[int, int]
"""A game and a trial."""


@dataclass(frozen=True)
class Listed:
    """One episode of the cell of this number. `apart` says why it does not count, "" if it does;
    `path` is its page's below the report's folder, "" without a transcript."""

    cell: int
    row: EpisodeRow
    apart: str
    path: str

    @property
    def address(self) -> str:
        """From the first page."""
        return quote(self.path)

    @property
    def address_beside(self) -> str:
        """From another episode's page."""
        return f"../../{self.address}" if self.path else ""

    @property
    def values(self) -> dict[str, Sequence[str]]:
        """What it can be filtered by, besides what its cell is."""
        return {
            "outcome": [self.row.outcome],
            "counts": [f"no: {self.apart}" if self.apart else "yes"],
            "answer": sorted(self.row.causes),
            "tasks": [self.row.task_type],
        }


Same = tuple[str, Sequence[tuple[str, Listed | None]]]
"""What differs, and how the same game went with each value of it; None without a result."""


@dataclass(frozen=True)
class Beside:
    """Where to go from an episode: the one before it in its cell and the one after it, and the same
    game elsewhere."""

    before: Listed | None
    after: Listed | None
    elsewhere: Sequence[Same]


def listed(cells: Sequence[CellRecord]) -> list[dict[Key, Listed]]:
    """The episodes of each cell."""
    return [
        {
            (row.game, row.trial): Listed(number, row, apart[row.game], _path(cell, name, row))
            for apart in [reasons(cell.rows)]
            for row in cell.rows
        }
        for number, (cell, name) in enumerate(_named(cells))
    ]


def _path(cell: CellRecord, name: str, row: EpisodeRow) -> str:
    transcript = transcript_of(cell.folder, row.game, row.trial)
    page = PurePosixPath("episodes", name, f"{transcript.stem}.html")
    return str(page) if transcript.exists() else ""


def with_pages(
    episodes: Sequence[Mapping[Key, Listed]], number: int, arms: Sequence[Row]
) -> Iterator[tuple[Listed, Beside]]:
    """The episodes of a cell that have one, in order; `arms` are those beside the cell."""
    own = [one for one in episodes[number].values() if one.path]
    for place, one in enumerate(own):
        game, trial = one.row.game, one.row.trial
        elsewhere: list[Same] = [
            (what, [(name, episodes[other].get((game, trial))) for name, other in row])
            for what, row in arms
        ]
        trials = [(str(of), same) for (g, of), same in episodes[number].items() if g == game]
        elsewhere += [("trial", trials)] * (len(trials) > 1)
        before, after = (own[i] if 0 <= i < len(own) else None for i in (place - 1, place + 1))
        yield one, Beside(before, after, elsewhere)


def _named(cells: Sequence[CellRecord]) -> Iterator[tuple[CellRecord, str]]:
    """Each cell with a folder name of its own: two experiments may hold the same cell."""
    taken: set[str] = set()
    for cell in cells:
        name, number = cell.folder.name, 1
        while name in taken:
            number += 1
            name = f"{cell.folder.name}-{number}"
        taken.add(name)
        yield cell, name
