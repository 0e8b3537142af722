"""Checks a bundle, or a run's folder: plays every episode again with the recorded
answers, and says which rows the games confirm.
"""

import contextlib
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pddlego_local.commands.shared.redraw import Redraw
from pddlego_local.commands.shared.suite_check import check_suite
from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.record.folder import read_events
from pddlego_local.core.record.rows import EpisodeRow, GameTrial
from pddlego_local.core.record.summary import inconsistencies, transcripts_by_episode
from pddlego_local.core.visible import in_one_line, visible
from pddlego_local.report.bundle import unpacked
from pddlego_local.report.cells import CellRecord, find_cells, unrequested
from pddlego_local.runner.provenance import provenance
from pddlego_local.runner.replay import Planners, ReplayedCell, Result
from pddlego_local.runner.sweep import read_sweeps

UNVERIFIED = "not verified: tokens, times, and that the named weights wrote the answers"

MOST_AT_ONCE = 16
"""Episodes; each has a game of its own, some of which are processes."""


@dataclass
class _Findings:
    """What the check of one or more cells found. `confirmed` and `rows` are counts,
    `unchecked` has the number of rows for each reason, and `differences` are sentences.
    """

    rows: int = 0
    confirmed: int = 0
    unchecked: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def __iadd__(self, other: "_Findings") -> "_Findings":
        self.rows += other.rows
        self.confirmed += other.confirmed
        self.unchecked += other.unchecked
        self.differences += other.differences
        return self

    def __str__(self) -> str:
        words = [f"{self.confirmed} of {self.rows} rows confirmed"]
        if self.unchecked:
            words.append(f"{self.unchecked.total()} not checked")
        if count := len(self.differences):
            words.append(f"{count} difference{'s' if count > 1 else ''}")
        return ", ".join(words)


@dataclass(frozen=True)
class _Means:
    """What the check of a cell uses. `left_out` are rows that are not played again."""

    planners: Planners
    redraw: Redraw | None
    left_out: frozenset[tuple[Path, GameTrial]]


def check(
    file: Path, server_url: str | None = None, most_rows: int | None = None
) -> int:
    """Checks the records in a bundle or a folder and prints what it finds. With
    `server_url`, some greedy answers are drawn again from that server. With
    `most_rows`, only so many rows are played again, which are chosen at random.

    Returns 0 if nothing differs and at least one row was confirmed, else 1. Raises
    ConfigError for a file that is no bundle, and ModelFault if the server fails.
    """
    redraw = Redraw() if server_url else None
    found = _Findings()
    with contextlib.ExitStack() as stack:
        here = file if file.is_dir() else stack.enter_context(unpacked(file))
        planners = stack.enter_context(contextlib.closing(Planners()))
        cells = find_cells([here])
        means = _Means(planners, redraw, _left_out(cells, most_rows))
        for cell in cells:
            of_cell = _check_cell(cell, means)
            _print_findings(_name(cell.folder, here, file), of_cell)
            found += of_cell
        suite = check_suite(here, cells)
        others = [line.replace(f"{here}/", "") for line in cells.left_out]
        others += [*_absent_cells(cells, here, file), *suite.differences]
    if redraw and server_url:
        others += redraw.differences(server_url)
    found.differences += others
    for line in (*others, *suite.not_played):
        print(visible(line))
    for version in _other_versions(cells):
        print(f"recorded by {version}; checked by {_version_of(provenance())}")
    print(f"{found} in {len(cells)} cells")
    for line in (*suite.unverified, UNVERIFIED):
        print(visible(line))
    return 1 if found.differences or not found.confirmed else 0


def _left_out(
    cells: list[CellRecord], most_rows: int | None
) -> frozenset[tuple[Path, GameTrial]]:
    rows = [(cell.folder, row.episode) for cell in cells for row in cell.rows]
    if most_rows is None or most_rows >= len(rows):
        return frozenset()
    return frozenset(random.sample(rows, len(rows) - most_rows))


def _name(folder: Path, root: Path, file: Path) -> str:
    name = folder.relative_to(root).as_posix()
    return file.name if name == "." else name


def _print_findings(name: str, found: _Findings) -> None:
    print(visible(f"{name}: {found}"))
    for why, count in found.unchecked.items():
        rows = "1 row" if count == 1 else f"{count} rows"
        print(visible(f"  not checked ({rows}): {why}"))
    for difference in found.differences:
        print(visible(f"  {difference}"))


def _absent_cells(cells: list[CellRecord], here: Path, file: Path) -> Iterator[str]:
    """Yields a sentence for each cell that a sweep requested and that is not there."""
    there = {cell.folder.resolve() for cell in cells}
    for folder, episodes in sorted(read_sweeps(here).items()):
        if folder not in there:
            name = _name(folder, here.resolve(), file)
            yield f"{name}: requested by a sweep ({len(episodes)} rows), but not here"


def _check_cell(cell: CellRecord, means: _Means) -> _Findings:
    found = _Findings(rows=len(cell.rows))
    for line in (*cell.problems, *unrequested(cell)):
        in_cell = line.replace(f"{cell.folder}/", "").replace(f"{cell.folder}: ", "")
        found.differences.append(in_cell)
    for game, trial in sorted(cell.missing_episodes):
        found.differences.append(f"game {game}, trial {trial}: requested, but no row")
    rows = {row.episode: row for row in cell.rows}
    transcripts = transcripts_by_episode(cell.folder)
    inconsistent = set[GameTrial]()
    for episode in sorted(rows.keys() | transcripts.keys()):
        for line in inconsistencies(rows.get(episode), transcripts.get(episode)):
            inconsistent.add(episode)
            found.differences.append(f"{_words(episode)}: {line}")
    for episode, result in _played_again(cell, rows, transcripts, means, found):
        if result.difference:
            found.differences.append(f"{_words(episode)}: {result.difference}")
        elif result.unchecked:
            found.unchecked[in_one_line(result.unchecked)] += 1
        elif episode not in inconsistent:
            found.confirmed += 1
    return found


def _words(episode: GameTrial) -> str:
    game, trial = episode
    return f"game {game}, trial {trial}"


def _played_again(
    cell: CellRecord,
    rows: Mapping[GameTrial, EpisodeRow],
    transcripts: Mapping[GameTrial, Path],
    means: _Means,
    found: _Findings,
) -> Iterator[tuple[GameTrial, Result]]:
    """Yields what became of each row that has a transcript, in order. What concerns the
    whole cell is added to `found`.
    """
    on_request = means.redraw.for_model(cell.run) if means.redraw else None
    try:
        replayed = ReplayedCell(cell.run, cell.rows, means.planners, on_request)
    except (ConfigError, MissingPart) as error:
        found.unchecked[in_one_line(error)] += len(cell.rows)
        return
    width = min(os.cpu_count() or 1, MOST_AT_ONCE)
    with contextlib.closing(replayed), ThreadPoolExecutor(width) as threads:
        if changed := replayed.changed_settings():
            found.differences.append(changed)
            found.unchecked["the settings differ"] += len(cell.rows)
            return

        def result_of(episode: GameTrial) -> Result | None:
            if (cell.folder, episode) in means.left_out:
                return Result(unchecked="not among the rows that were chosen")
            try:
                events = read_events(transcripts[episode])
            except (KeyError, ConfigError):
                return None  # `inconsistencies` says so
            return replayed.play(rows[episode], events)

        for episode, result in zip(rows, threads.map(result_of, rows), strict=True):
            if result is not None:
                yield episode, result


def _other_versions(cells: list[CellRecord]) -> list[str]:
    """Returns the versions of the project that recorded cells, without this one."""
    starts = [start for cell in cells for start in cell.run.starts]
    recorded = {_version_of(vars(start)) for start in starts}
    return sorted(recorded - {_version_of(provenance())})


def _version_of(versions: Mapping[str, Any]) -> str:
    """Returns the version in words. `versions` are the fields of a start."""
    packages = versions["packages"] or {}
    commit = versions["commit"]
    version = f"pddlego_local {packages.get('pddlego_local', 'of unknown version')}"
    return f"{version} (commit {commit:.12})" if commit else version
