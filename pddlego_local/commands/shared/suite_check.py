"""Checks that the cells of an evaluation are those of its frozen suite."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pddlego_local.api.not_played import Unplayed
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.grouping import grouped, grouped_by
from pddlego_local.core.record.entry import RECORD, Entry, Played, read_entry
from pddlego_local.models.weights import fingerprint, shipped
from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.suite import (
    BY_RULES,
    RANDOM,
    Size,
    check_frozen,
    suite,
    words_of,
)

Configs = Mapping[tuple[str, str], CellConfig]
"""The suite's configurations, by part and arm."""

NO_SUITE = f"no {RECORD}: this is no evaluation, and no suite was compared"


@dataclass
class SuiteCheck:
    """Sentences: in what an evaluation is not what its suite says, which parts it did
    not play, as the card of its model demands, and what remains unverified.
    """

    differences: list[str] = field(default_factory=list)
    not_played: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)


def check_suite(folder: Path, cells: Sequence[CellRecord]) -> SuiteCheck:
    """Compares each evaluation at or below a folder with its suite."""
    found = SuiteCheck()
    others = {cell.folder for cell in cells}
    files = sorted(folder.rglob(RECORD))
    for file in files:
        run = file.parent
        here = {cell.folder.name: cell for cell in cells if cell.folder.parent == run}
        others -= {cell.folder for cell in here.values()}
        try:
            _compare(read_entry(run), here, found)
        except ConfigError as error:
            found.differences.append(str(error).replace(f"{folder}/", ""))
    if not files:
        found.unverified.append(NO_SUITE)
    elif others:
        found.unverified.append(
            f"{len(others)} of {len(cells)} cells belong to no evaluation (there is no"
            f" {RECORD} beside them), and were compared with no suite"
        )
    return found


def _compare(entry: Entry, cells: Mapping[str, CellRecord], found: SuiteCheck) -> None:
    number = suite().number
    if entry.suite != number:
        found.differences.append(
            f"{RECORD}: suite {entry.suite} is not suite {number} of here"
        )
        return
    size = suite().size(entry.size)
    configs = {
        (part, arm): _config_of(part, arm, thinking=entry.thinking)
        for part, arm in _plays_of(entry, size)
    }
    found.differences += _differences(entry, size, cells, configs)
    _explain(entry, cells, configs, found)


def _differences(
    entry: Entry, size: Size, cells: Mapping[str, CellRecord], configs: Configs
) -> Iterator[str]:
    if (sha256 := check_frozen(size)) != entry.sha256:
        yield f"{RECORD}: its suite has the hash {entry.sha256:.12}, not {sha256:.12}"
    played = {(play.part, play.arm): play for play in entry.plays}
    if len(played) < len(entry.plays):
        yield f"{RECORD}: it has a part by an arm twice"
    for (part, arm), config in configs.items():
        play = played.pop((part, arm), None)
        if play is None:
            yield f"{RECORD}: {part} by {arm} is missing"
        else:
            yield from _of_play(entry, play, size, cells, config)
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
    entry: Entry,
    play: Played,
    size: Size,
    cells: Mapping[str, CellRecord],
    config: CellConfig,
) -> Iterator[str]:
    name = f"{play.part} by {play.arm}"
    part = suite().parts[play.part]
    games = part.games[: size.parts[play.part]]
    if set(play.numbers) != set(games):
        yield f"{RECORD}: {name} has other games than the suite"
    if play.why:
        if play.cell:
            yield f"{RECORD}: {name} has a cell, and a reason why it was not played"
        return  # `_explain` judges the reason
    cell = cells.get(play.cell)
    if cell is None:
        yield f"{RECORD}: the cell of {name} is not here ({play.cell})"
        return
    if absent := set(games) - {game for game, _ in cell.requested}:
        yield f"{play.cell}: {len(absent)} games of the suite were not requested"
    wanted = {**config.identity, "model": entry.model}
    differing = [key for key in wanted if wanted[key] != cell.run.identity.get(key)]
    limits = config.tree["planner"].get("limits")
    if any(_limits(start.config) != limits for start in cell.run.starts):
        differing.append("the planner's limits")
    if differing:
        yield f"{play.cell}: other than the suite's: {', '.join(differing)}"


def _config_of(part: str, arm: str, *, thinking: bool) -> CellConfig:
    """Returns the suite's configuration of a part and an arm, played by rules, with
    the games of all sizes.
    """
    of_suite = suite().parts[part]
    words = words_of(of_suite, arm, of_suite.games, thinking=thinking)
    return compose_cell([*words, "model=reference"])


def _limits(config: Mapping[str, Any]) -> Any:
    return config.get("planner", {}).get("limits")


# ---- What was not played


def _explain(
    entry: Entry,
    cells: Mapping[str, CellRecord],
    configs: Configs,
    found: SuiteCheck,
) -> None:
    """Judges the reasons that an entry gives for what it did not play."""
    plays = [play for play in entry.plays if (play.part, play.arm) in configs]
    played = [configs[play.part, play.arm] for play in plays if not play.why]
    card_is_here = _card_is_here(entry, cells)
    judged = []
    for play in plays:
        if play.why:
            by_rules = configs[play.part, play.arm]
            config = replace(by_rules, tree={**by_rules.tree, "model": entry.model})
            unplayed = Unplayed(config, card_is_here, entry.canary, played)
            judged.append(((unplayed.judge(play.why), play.why), play))
    total = _episodes(entry.plays)
    for (verdict, why), alike in grouped(judged).items():
        episodes = f"{_episodes(alike)} of {total} episodes of this size"
        names = _names(alike, entry)
        if verdict == "invented":
            found.differences.append(
                f"{RECORD}: {names}: this program gives no such reason for not playing"
                f" them: {why}"
            )
        elif verdict == "possible":
            found.unverified.append(
                f"not verified: why {episodes} were not played: {names}: {why}"
            )
        else:
            found.not_played.append(f"not played: {episodes}: {names}: {why}")


def _episodes(plays: Sequence[Played]) -> int:
    return sum(len(play.numbers) for play in plays)


def _names(plays: Sequence[Played], entry: Entry) -> str:
    """Names parts and arms; a part with all of its arms by its name alone."""
    of_part = grouped_by(entry.plays, lambda play: play.part)
    names = list[str]()
    for part, found in grouped_by(plays, lambda play: play.part).items():
        is_whole = len(found) == len(of_part[part])
        arms = ", ".join(play.arm for play in found)
        names.append(part if is_whole else f"{part} by {arms}")
    return "; ".join(names)


def _card_is_here(entry: Entry, cells: Mapping[str, CellRecord]) -> bool:
    """Returns whether the entry's model is in the box: its name, and the fingerprint of
    its weights where cells have one.
    """
    folder = shipped(str(entry.model.get("weights")))
    if folder is None:
        return False
    recorded = {cell.run.model.get("fingerprint") for cell in cells.values()}
    return recorded <= {None, fingerprint(folder)}
