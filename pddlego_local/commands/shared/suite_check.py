"""Checks that the cells of an evaluation are those of its frozen suite."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.entry import RECORD, Entry, Played, read_entry
from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.suite import (
    BY_RULES,
    RANDOM,
    Size,
    check_frozen,
    suite,
    words_of,
)


def suite_differences(folder: Path, cells: Iterable[CellRecord]) -> Iterator[str]:
    """Yields a sentence for each thing in which an evaluation at or below a folder is
    not what its suite says. Prints what it says of parts that were not played.
    """
    for file in sorted(folder.rglob(RECORD)):
        run = file.parent
        here = {cell.folder.name: cell for cell in cells if cell.folder.parent == run}
        try:
            yield from _differences(read_entry(run), here)
        except ConfigError as error:
            yield str(error).replace(f"{folder}/", "")


def _differences(entry: Entry, cells: Mapping[str, CellRecord]) -> Iterator[str]:
    if entry.suite != suite().number:
        yield f"{RECORD}: suite {entry.suite} is not suite {suite().number} of here"
        return
    size = suite().size(entry.size)
    if (sha256 := check_frozen(size)) != entry.sha256:
        yield f"{RECORD}: its suite has the hash {entry.sha256:.12}, not {sha256:.12}"
    played = {(play.part, play.arm): play for play in entry.plays}
    for part, arm in _plays_of(entry, size):
        play = played.pop((part, arm), None)
        if play is None:
            yield f"{RECORD}: {part} by {arm} is missing"
        else:
            yield from _of_play(entry, play, size, cells)
    for part, arm in played:
        yield f"{RECORD}: {part} by {arm} is not in size {entry.size} of the suite"
    asked = {play.cell for play in entry.plays}
    for name in sorted(cells.keys() - asked):
        yield f"{name}: the evaluation does not name this cell"


def _plays_of(entry: Entry, size: Size) -> Iterator[tuple[str, str]]:
    """Yields the parts and arms that an entry has. One that plays by rules has one
    arm.
    """
    for part in size.parts:
        arms = suite().arms_of(part, size)
        if entry.name == RANDOM:
            arms = [RANDOM]
        elif entry.name in BY_RULES:
            arms = arms[:1]
        for arm in arms:
            yield part, arm


def _of_play(
    entry: Entry, play: Played, size: Size, cells: Mapping[str, CellRecord]
) -> Iterator[str]:
    name = f"{play.part} by {play.arm}"
    part = suite().parts[play.part]
    games = part.games[: size.parts[play.part]]
    if set(play.numbers) != set(games):
        yield f"{RECORD}: {name} has other games than the suite"
    if play.why:
        print(f"not played: {name}: {play.why}")
        return
    cell = cells.get(play.cell)
    if cell is None:
        yield f"{RECORD}: the cell of {name} is not here ({play.cell})"
        return
    if absent := set(games) - {game for game, _ in cell.requested}:
        yield f"{play.cell}: {len(absent)} games of the suite were not requested"
    words = words_of(part, play.arm, games, thinking=entry.thinking)
    config = compose_cell([*words, "model=reference"])
    wanted = {**config.identity, "model": entry.model}
    differing = [key for key in wanted if wanted[key] != cell.run.identity.get(key)]
    limits = config.tree["planner"].get("limits")
    if any(_limits(start.config) != limits for start in cell.run.starts):
        differing.append("the planner's limits")
    if differing:
        yield f"{play.cell}: other than the suite's: {', '.join(differing)}"


def _limits(config: Mapping[str, Any]) -> Any:
    return config.get("planner", {}).get("limits")
