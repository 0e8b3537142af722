"""The paths of the episodes' pages, and their links: to the previous and the next
episode of the cell, and to the same game as other arms played it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.record.counting import reasons
from pddlego_local.core.record.folder import transcript_of
from pddlego_local.core.record.rows import EpisodeRow, GameTrial
from pddlego_local.report.arms import Arm, differences
from pddlego_local.report.cells import CellRecord, short_name


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


Links = Mapping[GameTrial, EpisodeLink]
"""The links of one cell."""

ByFactor = Mapping[str, Mapping[int, str]]
"""{factor: {number of a cell: value}}: the cells that differ from one cell only in this
factor, and this cell itself. The seed is a factor, too.
"""


def episode_links(cells: Sequence[CellRecord]) -> list[Links]:
    """Returns the links of each cell. Folders are numbered if several cells have the
    same name.
    """
    links = list[Links]()
    copies = Counter[str]()
    for number, cell in enumerate(cells):
        folder = cell.folder.name
        copies[folder] += 1
        if copies[folder] > 1:
            folder += f"-{copies[folder]}"
        links.append(_links_of(cell, number, folder))
    return links


def _links_of(cell: CellRecord, number: int, folder: str) -> Links:
    apart = reasons(cell.rows)
    links = {}
    for row in cell.rows:
        transcript = transcript_of(cell.folder, row.game, row.trial)
        path = f"episodes/{folder}/{transcript.stem}.html"
        links[row.episode] = EpisodeLink(
            cell=number,
            row=row,
            apart=apart[row.game],
            path=path if transcript.exists() else "",
        )
    return links


class Alternative(NamedTuple):
    """The same game with another value of a factor; None without a result."""

    value: str
    episode: EpisodeLink | None


@dataclass(frozen=True)
class Neighbours:
    """The episodes to which a page links: the `previous` and the `next` one of its
    cell, and the `same_game` by factor in other cells and in other trials, the page's
    own episode among them.
    """

    previous: EpisodeLink | None
    next: EpisodeLink | None
    same_game: Mapping[str, Sequence[Alternative]]


def with_neighbours(
    links: Sequence[Links],
    own_links: Links,
    others: ByFactor,
) -> Iterator[tuple[EpisodeLink, Neighbours]]:
    """Yields the episodes of a cell that have a page, in order, each with its
    neighbours. `others` is an item of `cells_by_factor`.
    """
    own = [link for link in own_links.values() if link.path]
    for place, link in enumerate(own):
        yield (
            link,
            Neighbours(
                previous=own[place - 1] if place > 0 else None,
                next=own[place + 1] if place + 1 < len(own) else None,
                same_game=_same_game(link, links, others),
            ),
        )


def _same_game(
    link: EpisodeLink,
    links: Sequence[Links],
    others: ByFactor,
) -> dict[str, list[Alternative]]:
    found = dict[str, list[Alternative]]()
    for factor, values in sorted(others.items()):
        found[factor] = [
            Alternative(value, links[cell].get(link.row.episode))
            for cell, value in sorted(values.items())
        ]
    trials = [
        Alternative(str(other.row.trial), other)
        for other in links[link.cell].values()
        if other.row.game == link.row.game
    ]
    if len(trials) > 1:
        found["trial"] = trials
    return found


def cells_by_factor(cells: Sequence[CellRecord]) -> list[ByFactor]:
    """Returns for each cell the cells that differ from it only in one factor."""
    arms = [Arm((cell,)) for cell in cells]
    found = [defaultdict[str, dict[int, str]](dict) for _ in cells]
    for first, second in combinations(range(len(cells)), 2):
        a = arms[first]
        b = arms[second]
        differing = differences(a, b)
        if a.first.seed != b.first.seed:
            differing.add("seed")
        if a.games == b.games and len(differing) == 1:
            (factor,) = differing
            values = {first: _value(a, factor), second: _value(b, factor)}
            found[first][factor] |= values
            found[second][factor] |= values
    return [
        {factor: _told_apart(values, arms) for factor, values in by_factor.items()}
        for by_factor in found
    ]


def _told_apart(values: Mapping[int, str], arms: Sequence[Arm]) -> dict[int, str]:
    """Adds to equal values the settings in which their arms differ."""
    told = dict(values)
    for alike in grouped_by(values, lambda number: values[number]).values():
        settings = [arms[number].settings for number in alike]
        names = {name for own in settings for name in own if "." in name}
        differing = [
            name
            for name in sorted(names)
            if len({own.get(name) for own in settings}) > 1
        ]
        for number, own in zip(alike, settings, strict=True):
            added = [
                f"{short_name(name)} {own[name]}" for name in differing if name in own
            ]
            told[number] = ", ".join([values[number], *added])
    return told


def _value(arm: Arm, factor: str) -> str:
    if factor == "seed":
        return str(arm.first.seed)
    return arm.name(factor)
