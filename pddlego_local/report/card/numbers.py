"""The numbers of a card, from the records of an evaluation alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import PlainSerializer

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.counting import counted
from pddlego_local.core.record.entry import RECORD, Entry, Played, read_entry
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import folder
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.costs import cost_of
from pddlego_local.report.measures import (
    EQUIVALENT,
    UNCOMPARED,
    compared_with_gold,
    has_reached,
    measure,
)
from pddlego_local.report.papers import Row, published
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.runner.suite import BY_RULES, RANDOM, REFERENCE, suite

STAGES = ("refused", "accepted", "plan", "valid", "equivalent")
"""How far the best file of an episode came: the planner's translator refused all of
them; accepted some; the planner found a plan; the game was won, or the plan is valid in
the gold files; the problem is equivalent to the gold problem.
"""


Won = Annotated[Rate, PlainSerializer(lambda rate: _as_json(rate))]
"""A rate, which card.json has with its interval."""


def _as_json(rate: Rate) -> dict[str, float | None]:
    low, high = rate.interval
    return {"k": rate.k, "n": rate.n, "share": rate.share, "low": low, "high": high}


@dataclass(frozen=True)
class Share:
    """k of the n scored games, by rules."""

    k: int
    n: int


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a game won cost: the totals over all scored games, lost ones included,
    divided by the games won; None if none was won. `calls` and `answer_tokens` are
    those of the rows. A call takes several `requests` if its answer is written in
    stages; these, and the `prompt_tokens` of all of them, are None without transcripts.
    """

    calls: float | None = None
    answer_tokens: float | None = None
    requests: float | None = None
    prompt_tokens: float | None = None


@dataclass(frozen=True, kw_only=True)
class Line:
    """One part of the suite by one arm.

    `asked` are its games, `finished` those with a result, and `apart` those of them
    that are not scored, such as games that are solved at reset. `stages` counts the
    scored games by how far their files came; it is empty if the method writes none, and
    lacks "equivalent" if no file was compared with a gold problem. `floor` and
    `ceiling` are what random valid commands and the rule-based reference won of the
    scored games. `cell` is the folder of its records, which several lines share if they
    have the same episodes. `why` says why the line was not played.
    """

    part: str
    about: str
    environment: str
    method: str
    arm: str
    asked: int
    finished: int = 0
    apart: int = 0
    won: Won | None = None
    stages: Mapping[str, int]
    cost: Cost | None = None
    floor: Share | None = None
    ceiling: Share | None = None
    cell: str = ""
    why: str = ""

    @property
    def missing(self) -> int:
        return 0 if self.why else self.asked - self.finished


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """What an arm won in a partly seen world, and in the same games of the same world
    with names without a meaning.
    """

    part: str
    arm: str
    real: Won
    renamed: Won


class Evaluated:
    """An evaluation on disk: its entry and the records of its cells."""

    def __init__(self, run: Path) -> None:
        """Raises ConfigError if the folder holds no evaluation."""
        self.run = run
        self.entry: Entry = read_entry(run)
        self._cells = {cell.folder.name: cell for cell in _cells_of(run)}

    def cell(self, played: Played) -> CellRecord | None:
        """Returns the cell's record; None if it was not played, or has not begun."""
        return self._cells.get(played.cell)

    def rows(self, played: Played) -> list[EpisodeRow]:
        """Returns the rows of the games of one part and arm."""
        cell = self.cell(played)
        games = set(played.numbers)
        return [row for row in cell.rows if row.game in games] if cell else []

    @property
    def cells(self) -> list[CellRecord]:
        return [*self._cells.values()]


def _cells_of(run: Path) -> Sequence[CellRecord]:
    try:
        return find_cells([run])
    except ConfigError:  # no cell has begun
        return ()


def by_rules(entry: Entry, beside: Path) -> dict[str, "Evaluated"]:
    """Returns the evaluations of the floor and the ceiling on the games of an entry:
    those in the folder `beside`, or else those that come with this package.
    """
    found = dict[str, Evaluated]()
    shipped = folder("conf") / "suite" / str(entry.suite)
    for place in (shipped, beside):
        for path in sorted(place.glob(f"*/{RECORD}")):
            try:
                other = read_entry(path.parent)
            except ConfigError:  # an evaluation that has nothing to do with this one
                continue
            same = (other.sha256, other.size) == (entry.sha256, entry.size)
            if same and other.name in BY_RULES:
                found[other.name] = Evaluated(path.parent)
    return found


def lines_of(evaluated: Evaluated, rules: Mapping[str, Evaluated]) -> list[Line]:
    """Returns a line for each part and arm. `rules` has the floor and the ceiling."""
    return [_line(evaluated, played, rules) for played in evaluated.entry.plays]


def _line(evaluated: Evaluated, played: Played, rules: Mapping[str, Evaluated]) -> Line:
    part = suite().parts[played.part]
    cell = evaluated.cell(played)
    rows = evaluated.rows(played)
    scored = counted(rows).counted
    games = {row.game for row in scored}
    return Line(
        part=played.part,
        about=part.about,
        environment=_choice(part.environment),
        method=RANDOM if played.arm == RANDOM else _choice(part.method),
        arm=played.arm,
        asked=len(played.numbers),
        finished=len(rows),
        apart=len(rows) - len(scored),
        won=measure(scored).success if scored else None,
        stages={} if played.arm.startswith("act") else stages_of(scored),
        cost=_cost(cell, scored),
        floor=_share(rules.get(RANDOM), played.part, games),
        ceiling=_share(rules.get(REFERENCE), played.part, games),
        cell=played.cell,
        why=played.why,
    )


def _choice(words: Sequence[str]) -> str:
    return words[0].partition("=")[2]


def stages_of(rows: Sequence[EpisodeRow]) -> dict[str, int]:
    """Counts rows by `STAGES`; {} if no model was asked."""
    if not any(row.calls for row in rows):
        return {}
    counts = dict.fromkeys(STAGES, 0)
    for row in rows:
        counts[_stage(row)] += 1
    if all(compared_with_gold(row) in UNCOMPARED for row in rows):
        del counts["equivalent"]
    return counts


def _stage(row: EpisodeRow) -> str:
    if row.success and compared_with_gold(row) in EQUIVALENT:
        return "equivalent"
    if row.success:
        return "valid"
    if has_reached("has_plan", row):
        return "plan"
    return "accepted" if has_reached("accepted", row) else "refused"


def _cost(cell: CellRecord | None, scored: Sequence[EpisodeRow]) -> Cost | None:
    """Returns None if no model was asked."""
    if cell is None or not any(row.calls for row in scored):
        return None
    won = sum(row.success for row in scored)
    if not won:
        return Cost()
    of_rows = Cost(
        calls=sum(row.calls for row in scored) / won,
        answer_tokens=sum(row.completion_tokens for row in scored) / won,
    )
    try:
        cost = cost_of(cell)
    except ValueError:  # a transcript is missing, or cannot be read
        return of_rows
    return replace(
        of_rows,
        requests=cost.requests / won,
        prompt_tokens=cost.prompt_tokens / won,
    )


def _share(rules: Evaluated | None, part: str, games: set[int]) -> Share | None:
    """Returns what the rules won of these games; None unless they played them all."""
    if rules is None or not games:
        return None
    for played in rules.entry.plays:
        if played.part == part and not played.why:
            rows = [row for row in rules.rows(played) if row.game in games]
            if len(rows) == len(games):
                return Share(sum(row.success for row in rows), len(rows))
    return None


def renamed_of(lines: Sequence[Line]) -> list[Renamed]:
    """Returns the worlds that were played with real and with renamed names."""
    by_name = {(line.part, line.arm): line for line in lines}
    found = []
    for line in lines:
        other = by_name.get((f"{line.part}_renamed", line.arm))
        if other and line.won and other.won:
            found.append(
                Renamed(part=line.part, arm=line.arm, real=line.won, renamed=other.won)
            )
    return found


def published_beside(entry: Entry) -> dict[str, list[Row]]:
    """Returns what others reported of the same games with the same method, by part.
    Parts of which this size plays only some games have nothing beside them.
    """
    found = dict[str, list[Row]]()
    for name, number in suite().size(entry.size).parts.items():
        part = suite().parts[name]
        if part.published and number >= len(part.games):
            system = (_choice(part.environment), _choice(part.method), part.published)
            found[name] = [
                row
                for row in published()
                if (row["environment"], row["method"], row["games"]) == system
                and row["domain"] is None
            ]
    return found
