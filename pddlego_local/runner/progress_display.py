"""Shows the progress of a run: one live line on a terminal, otherwise one line per
minute.
"""

import datetime
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column

from pddlego_local.core.record.counting import Standing, time_left_s
from pddlego_local.core.record.rows import EpisodeRow, FaultRow

LINE_EVERY_S = 60
DRAWN_A_SECOND = 2


class LiveView:
    """Shows the progress of the cells of one command. Must be called by one thread.

    `cells` and `episodes` count everything that the command requests; `done` episodes
    have a result from earlier runs. An episode that ended in a fault is not done.
    `cells_done` counts the cells that lack no episode. `standing` covers all episodes
    of the cells, also from earlier runs.
    """

    def __init__(
        self,
        console: Console,
        cells: int,
        episodes: int,
        restarts: Callable[[], int],
        done: int,
    ) -> None:
        self._cells = cells
        self._episodes = episodes
        self._restarts = restarts
        self._before = self._done = done
        self.cells_done = self._ended = self._tokens = 0
        self.standing = Standing()
        self._began = self._line_at = time.monotonic()
        self._console = console
        self._progress = Progress(
            TextColumn("episodes"),
            BarColumn(20, table_column=Column(no_wrap=True)),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TextColumn(
                "{task.description}", "dim", markup=False, table_column=Column()
            ),
            TimeElapsedColumn(table_column=Column(no_wrap=True)),
            console=console,
            refresh_per_second=DRAWN_A_SECOND,
        )
        self._bar = self._progress.add_task("", total=episodes, completed=done)

    def begin(self) -> None:
        """Starts the bar with the first episode, so that earlier errors are shown
        without a bar.
        """
        if not self._progress.live.is_started:
            self._began = self._line_at = time.monotonic()
            self._progress.start()

    def episode_ended(self, cell: Path, end: EpisodeRow | FaultRow) -> None:
        self._ended += 1
        if isinstance(end, EpisodeRow):
            self._tokens += end.completion_tokens
            self.standing.add(cell, end)
            self._done += 1
            self._progress.advance(self._bar)

    def update(self, under_way: int, planner_queue: int) -> None:
        """Shows the status: `under_way` episodes and `planner_queue` waiting planner
        tasks.
        """
        status = self._status(under_way, planner_queue)
        self._progress.update(self._bar, description=status)
        if self._console.is_terminal:
            return
        now = time.monotonic()
        if now - self._line_at >= LINE_EVERY_S:
            self._line_at = now
            done = f"{self._done} of {self._episodes} episodes"
            self._console.print(f"{done}, {status}")

    def end(self) -> None:
        if self._progress.live.is_started:
            self._progress.update(self._bar, description=self._status(0, 0))
            self._progress.stop()

    def _status(self, under_way: int, planner_queue: int) -> str:
        elapsed_s = max(time.monotonic() - self._began, 1e-9)
        parts = [f"cells {self.cells_done}/{self._cells}"]
        if success := self.standing.success:
            parts.append(f"success {success}")
        if self._tokens:
            parts.append(f"{self._tokens / elapsed_s:,.0f} tokens/s")
        if planner_queue:
            parts.append(f"planner queue {planner_queue}")
        if restarts := self._restarts():
            parts.append(f"server restarts {restarts}")
        to_play = self._episodes - self._before
        left_s = time_left_s(elapsed_s, self._ended, under_way, to_play)
        if left_s:
            left = datetime.timedelta(seconds=round(left_s))
            parts.append(f"{left} left")
        return ", ".join(parts)
