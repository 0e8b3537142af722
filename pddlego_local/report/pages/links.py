"""The paths of the episodes' pages, and their links: to the previous and the next
episode of the cell, and to the same game as other arms played it.
"""

from collections import Counter, defaultdict
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
    links = []
    copies = Counter[str]()
    for number, cell in enumerate(cells):
        folder = cell.folder.name
        copies[folder] += 1
        if copies[folder] > 1:
            folder += f"-{copies[folder]}"
        apart = reasons(cell.rows)
        of_cell = dict[GameTrial, EpisodeLink]()
        for row in cell.rows:
            transcript = transcript_of(cell.folder, row.game, row.trial)
            path = f"episodes/{folder}/{transcript.stem}.html"
            of_cell[row.game, row.trial] = EpisodeLink(
                cell=number,
                row=row,
                apart=apart[row.game],
                path=path if transcript.exists() else "",
            )
        links.append(of_cell)
    return links


@dataclass(frozen=True)
class Neighbours:
    """The episodes to which a page links: the `previous` and the `next` one of its
    cell, and the `same_game` by factor in other cells and in other trials. Each is
    listed with the value of the factor, the page's own episode too; an episode without
    a result is None.
    """

    previous: EpisodeLink | None
    next: EpisodeLink | None
    same_game: Sequence[tuple[str, Sequence[tuple[str, EpisodeLink | None]]]]


def with_neighbours(
    links: Sequence[Mapping[GameTrial, EpisodeLink]],
    number: int,
    others: Mapping[str, Mapping[int, str]],
) -> Iterator[tuple[EpisodeLink, Neighbours]]:
    """Yields the episodes of a cell that have a page, in order, each with its
    neighbours. `others` is an item of `cells_by_factor`.
    """
    own = [link for link in links[number].values() if link.path]
    for place, link in enumerate(own):
        game, trial = link.row.game, link.row.trial
        same_game = list[tuple[str, Sequence[tuple[str, EpisodeLink | None]]]]()
        for factor, values in sorted(others.items()):
            of_factor = [
                (value, links[cell].get((game, trial)))
                for cell, value in sorted(values.items())
            ]
            same_game.append((factor, of_factor))
        trials = [
            (str(other.row.trial), other)
            for other in links[number].values()
            if other.row.game == game
        ]
        if len(trials) > 1:
            same_game.append(("trial", trials))
        previous = own[place - 1] if place else None
        following = own[place + 1] if place + 1 < len(own) else None
        yield link, Neighbours(previous, following, same_game)


def cells_by_factor(cells: Sequence[CellRecord]) -> list[dict[str, dict[int, str]]]:
    """Returns for each cell {factor: {number of a cell: value}} with all cells that
    differ from it only in this factor, and the cell itself. The seed is a factor, too.
    """
    arms = [Arm((cell,)) for cell in cells]
    found: list[dict[str, dict[int, str]]] = [defaultdict(dict) for _ in cells]
    for one, other in combinations(range(len(cells)), 2):
        a, b = arms[one], arms[other]
        differing = differences(a, b)
        if a.first.seed != b.first.seed:
            differing.add("seed")
        if a.games == b.games and len(differing) == 1:
            (factor,) = differing
            values = {one: _value(a, factor), other: _value(b, factor)}
            found[one][factor] |= values
            found[other][factor] |= values
    return found


def _value(arm: Arm, factor: str) -> str:
    return str(arm.first.seed) if factor == "seed" else arm.name(factor)
