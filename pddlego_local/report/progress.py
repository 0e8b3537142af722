"""How far a run has come, from its records alone, while it goes on or after.

When an episode ended is the file time of its transcript, which some ways of copying lose.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.record.counting import Standing, time_left_s
from pddlego_local.core.record.folder import read_faults, transcript_of, unfinished_transcripts
from pddlego_local.report.cells import CellRecord, Cells, find_cells
from pddlego_local.runner.sweep import read_sweeps


@dataclass(frozen=True)
class Progress:
    """Cells and episodes of one run. `standing` says which of those that have ended count,
    and how many of these were won. `faults` are infrastructure faults, `open_faults` the episodes
    that have had one and have no result yet; `starts` counts how often cells were begun or
    continued.

    `busy_s` are the seconds in which at least one episode was played, `tokens_per_s` those of
    finished episodes, and `left_s` what the rest takes at the pace so far, None where nothing is
    done yet. `last_written` is a time in seconds since 1970, None where nothing was.
    """

    cells: int
    cells_begun: int
    cells_done: int
    episodes: int
    done: int
    standing: Standing
    faults: int
    open_faults: int
    starts: int
    busy_s: float
    tokens_per_s: float | None
    left_s: float | None
    last_written: float | None
    problems: Sequence[str]


def progress(run: Path) -> Progress:
    """Raises as `find_cells` and `read_sweeps`."""
    planned = read_sweeps(run)
    begun = find_cells([run]) if not planned or any(run.rglob("run.json")) else Cells()
    problems = begun.problems
    asked = planned | {cell.folder: len(cell.rows) + cell.missing for cell in begun}
    done = {(cell.folder, row.game, row.trial): row for cell in begun for row in cell.rows}
    standing = Standing()
    for (folder, _, _), row in done.items():
        standing.add(folder, row)
    faults = [
        (cell.folder, fault.game, fault.trial)
        for cell in begun
        for fault in read_faults(cell.folder, problems)
    ]
    spans = [span for cell in begun for span in _played(cell)]
    busy_s, episodes = _covered(spans), sum(asked.values())
    under_way = sum(len(unfinished_transcripts(cell.folder)) for cell in begun)
    tokens = sum(row.completion_tokens for row in done.values())
    return Progress(
        cells=len(asked),
        cells_begun=len(begun),
        cells_done=sum(not cell.missing for cell in begun),
        episodes=episodes,
        done=len(done),
        standing=standing,
        faults=len(faults),
        open_faults=len(set(faults) - done.keys()),
        starts=sum(len(cell.run.starts) for cell in begun),
        busy_s=busy_s,
        tokens_per_s=tokens / busy_s if busy_s else None,
        left_s=time_left_s(busy_s, len(done), under_way, episodes),
        last_written=max((end for _, end in spans), default=None),
        problems=problems,
    )


def _played(cell: CellRecord) -> Iterator[tuple[float, float]]:
    """From when to when each episode was played; one that is in flight, at its last event."""
    lasted = {transcript_of(cell.folder, r.game, r.trial): r.wall_time_s for r in cell.rows}
    lasted |= dict.fromkeys(unfinished_transcripts(cell.folder), 0.0)
    for path, seconds in lasted.items():
        try:
            end = path.stat().st_mtime
        except FileNotFoundError:  # it has just ended
            continue
        yield end - seconds, end


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of what these spans cover together."""
    covered, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, until))
        until = max(until, end)
    return covered
