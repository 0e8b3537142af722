"""Where the episodes' pages lie, and where one leads from each: to the previous and the next one of
its cell, and to the same game as it was played by other arms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pddlego_local.core.record.counting import reasons
from pddlego_local.core.record.folder import transcript_of
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.arms import Arm, differences
from pddlego_local.report.cells import CellRecord

GameTrial = tuple[int, int]
"""A game and a trial."""


@dataclass(frozen=True)
class EpisodeLink:
    """One episode of the cell of this number. `apart` says why it does not count, "" if it does;
    `path` is its page's below the report's folder, "" without a transcript."""

    cell: int
    row: EpisodeRow
    apart: str
    path: str

    @property
    def filters(self) -> dict[str, Sequence[str]]:
        """What it can be filtered by, besides what its cell is."""
        return {
            "outcome": [self.row.outcome],
            "counts": [f"no: {self.apart}" if self.apart else "yes"],
            "answer": sorted(self.row.causes),
            "tasks": [self.row.task_type],
        }


@dataclass(frozen=True)
class Neighbours:
    """`same_game` has (what differs, [(its value, how the game went)]) of an episode's game,
    the episode itself among them; None without a result."""

    previous: EpisodeLink | None
    next: EpisodeLink | None
    same_game: Sequence[tuple[str, Sequence[tuple[str, EpisodeLink | None]]]]


def episode_links(cells: Sequence[CellRecord]) -> list[dict[GameTrial, EpisodeLink]]:
    """Those of each cell. Cells of several experiments may have one name: folders are numbered."""
    links: list[dict[GameTrial, EpisodeLink]] = []
    folders = set[str]()
    for number, cell in enumerate(cells):
        folder, copy = cell.folder.name, 1
        while folder in folders:
            copy += 1
            folder = f"{cell.folder.name}-{copy}"
        folders.add(folder)
        apart = reasons(cell.rows)
        links.append({})
        for row in cell.rows:
            transcript = transcript_of(cell.folder, row.game, row.trial)
            path = f"episodes/{folder}/{transcript.stem}.html" if transcript.exists() else ""
            links[-1][row.game, row.trial] = EpisodeLink(number, row, apart[row.game], path)
    return links


def with_neighbours(
    links: Sequence[Mapping[GameTrial, EpisodeLink]],
    number: int,
    others: Mapping[str, Sequence[tuple[str, int]]],
) -> Iterator[tuple[EpisodeLink, Neighbours]]:
    """The episodes of a cell that have a page, in order; `others` as in `cells_by_factor`."""
    own = [link for link in links[number].values() if link.path]
    for before, link, after in zip([None, *own], own, [*own[1:], None], strict=False):
        game, trial = link.row.game, link.row.trial
        same: list[tuple[str, list[tuple[str, EpisodeLink | None]]]] = [
            (factor, [(value, links[cell].get((game, trial))) for value, cell in cells])
            for factor, cells in others.items()
        ]
        trials = [(str(key[1]), one) for key, one in links[number].items() if key[0] == game]
        same += [("trial", [*trials])] * (len(trials) > 1)
        yield link, Neighbours(before, after, same)


def cells_by_factor(cells: Sequence[CellRecord]) -> list[dict[str, list[tuple[str, int]]]]:
    """For each cell, {factor: its values, and the numbers of the cells that have them}, of all
    cells that differ from it in this factor alone, the seed among them; itself included."""
    arms = [Arm((cell,)) for cell in cells]
    seeds = [str(cell.seed) for cell in cells]
    found: list[dict[str, set[int]]] = [{} for _ in cells]
    for a, b in combinations(range(len(cells)), 2):
        if arms[a].games == arms[b].games:
            differing = differences(arms[a], arms[b])
            if seeds[a] != seeds[b]:
                differing.add("seed")
            for factor in differing if len(differing) == 1 else ():
                found[a].setdefault(factor, {a}).add(b)
                found[b].setdefault(factor, {b}).add(a)

    def value(factor: str, cell: int) -> str:
        return seeds[cell] if factor == "seed" else arms[cell].name(factor)

    return [
        {
            factor: [(value(factor, cell), cell) for cell in sorted(others)]
            for factor, others in sorted(by_factor.items())
        }
        for by_factor in found
    ]
