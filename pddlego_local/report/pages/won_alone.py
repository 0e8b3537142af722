"""The games of each comparison that one of its arms won and the other lost, with their episodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.report.cells import CellRecord, varying_options
from pddlego_local.report.comparisons import Compared
from pddlego_local.report.couples import groups
from pddlego_local.report.pages.listed import Key, Listed
from pddlego_local.report.pairs import Match, Pair, match, solved


@dataclass(frozen=True)
class Game:
    """Won by the arm `by` alone; the episodes of both, one a trial."""

    by: str
    name: str
    base: Sequence[Listed]
    other: Sequence[Listed]


@dataclass(frozen=True)
class WonAlone:
    """Of one comparison: its two arms, and of the games that both finished those that one arm alone
    won. So many were won by `both`, or by `neither`."""

    base: str
    other: str
    games: Sequence[Game]
    both: int
    neither: int

    def count(self, arm: str) -> int:
        return sum(game.by == arm for game in self.games)


def won_alone(
    cells: Sequence[CellRecord],
    compared: Compared,
    episodes: Sequence[Mapping[Key, Listed]],
    *,
    with_trivial: bool,
) -> list[WonAlone]:
    """Of each comparison that was tested, in their order."""
    listed = {
        id(row): episodes[number][row.game, row.trial]
        for number, cell in enumerate(cells)
        for row in cell.rows
    }
    varying = varying_options(cells) - {"seed"}
    asked = [one for one in groups(cells, compared.questions.asked) if one.role != "not asked"]
    return [_of(match(group, varying, with_trivial), cells, listed) for group in asked]


def _of(found: Match, cells: Sequence[CellRecord], listed: Mapping[int, Listed]) -> WonAlone:
    finished = [pair for pair in found.pairs if pair.finished]
    results = [(solved(pair.base), solved(pair.other)) for pair in finished]

    def game(pair: Pair) -> Game:
        base, other = ([listed[id(row)] for row in rows] for rows in (pair.base, pair.other))
        seed = cells[base[0].cell].run.identity["seed"]
        several = sum(one.game == pair.game for one in finished) > 1
        return Game(
            by=found.base if solved(pair.base) else found.other,
            name=f"{pair.game[1]}" + f", seed {seed}" * several,
            base=base,
            other=other,
        )

    return WonAlone(
        base=found.base,
        other=found.other,
        games=[
            game(pair)
            for pair, (base, other) in zip(finished, results, strict=True)
            if base != other
        ],
        both=results.count((True, True)),
        neither=results.count((False, False)),
    )
