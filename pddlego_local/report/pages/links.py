"""The paths of the episodes' pages, and their links: to the previous and the next
episode of the cell, and to the same game as other arms played it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pddlego_local.core.record.counting import reasons
from pddlego_local.core.record.folder import transcript_of
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.arms import Arm, differences
from pddlego_local.report.cells import CellRecord

GameTrial = tuple[int, int]
"""A game and a trial."""


@dataclass(frozen=True)
class EpisodeLink:
    """One episode of the cell with this number. `apart` says why it is not scored, and
    is "" if it is. `path` is the path of its page below the report's folder, "" without
    a transcript.
    """

    cell: int
    row: EpisodeRow
    apart: str
    path: str

    @property
    def filters(self) -> dict[str, Sequence[str]]:
        """The values for the filters, in addition to those of its cell."""
        return {
            "outcome": [self.row.outcome],
            "counts": [f"no: {self.apart}" if self.apart else "yes"],
            "answer": sorted(self.row.causes),
            "tasks": [self.row.task_type],
        }


def episode_links(cells: Sequence[CellRecord]) -> list[dict[GameTrial, EpisodeLink]]:
    """Returns the links of each cell. Folders are numbered if several cells have the
    same name.
    """
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
            path = (
                f"episodes/{folder}/{transcript.stem}.html"
                if transcript.exists()
                else ""
            )
            links[-1][row.game, row.trial] = EpisodeLink(
                number, row, apart[row.game], path
            )
    return links


def with_neighbours(
    links: Sequence[Mapping[GameTrial, EpisodeLink]],
    number: int,
    others: Mapping[str, Mapping[int, str]],
) -> Iterator[tuple[EpisodeLink, dict[str, Any]]]:
    """Yields the episodes of a cell that have a page, in order, each with its
    neighbours.

    `others` is an item of `cells_by_factor`. The neighbours are the `previous` and the
    `next` episode, and the `same_game` in other cells and trials: a list of (factor,
    [(value, episode)]), which includes the episode itself. An episode without a result
    is None.
    """
    own = [link for link in links[number].values() if link.path]
    for before, link, after in zip([None, *own], own, [*own[1:], None], strict=False):
        game, trial = link.row.game, link.row.trial
        same: list[tuple[str, list[tuple[str, EpisodeLink | None]]]] = [
            (
                factor,
                [
                    (value, links[n].get((game, trial)))
                    for n, value in sorted(values.items())
                ],
            )
            for factor, values in sorted(others.items())
        ]
        trials = [
            (str(key[1]), one) for key, one in links[number].items() if key[0] == game
        ]
        same += [("trial", [*trials])] * (len(trials) > 1)
        yield link, {"previous": before, "next": after, "same_game": same}


def cells_by_factor(cells: Sequence[CellRecord]) -> list[dict[str, dict[int, str]]]:
    """Returns for each cell {factor: {number of a cell: value}} with all cells that
    differ from it only in this factor, and the cell itself. The seed is a factor, too.
    """
    arms = [Arm((cell,)) for cell in cells]
    found: list[dict[str, dict[int, str]]] = [defaultdict(dict) for _ in cells]
    for two in combinations(range(len(cells)), 2):
        a, b = (arms[number] for number in two)
        differing = differences(a, b) | (
            {"seed"} if a.first.seed != b.first.seed else set()
        )
        if a.games == b.games and len(differing) == 1:
            (factor,) = differing
            for number, arm in zip(two, (a, b), strict=True):
                value = str(arm.first.seed) if factor == "seed" else arm.name(factor)
                for one in two:
                    found[one][factor][number] = value
    return found
