"""One pool of threads for the episodes of several cells of one model.

Threads take episodes in the cells' order, so that the last of a cell overlap the first of the next.
Knows which episodes are under way; how one is played is in `runner.cell`.
"""

import contextlib
import json
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from pddlego_local.core.errors import (
    CellHeld,
    EnvironmentFault,
    GrammarIgnored,
    ModelFault,
    PddlegoError,
    PlannerFault,
)
from pddlego_local.core.protocols import Planner
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow, FaultRow
from pddlego_local.runner.cell import OpenCell, folder_of
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.model_store import ModelStore
from pddlego_local.runner.progress_display import LiveView
from pddlego_local.runner.shutdown import EarlyEnd

POLL_S = 0.5
OF_ONE_CELL = (CellHeld, ModelFault, PlannerFault, EnvironmentFault)

_End = EpisodeRow | FaultRow | None
"""None for an episode that was not begun."""


@dataclass(frozen=True)
class CellResult:
    """How one cell went. `faults` are the episodes that ended in an infrastructure fault, as
    "game 3, trial 0: …", `refused` the fault for which none could begin, or that another process is
    playing the cell; `left` is how many were not begun because the run ended early, for the reason
    `why`."""

    folder: Path
    played: int
    faults: list[str]
    left: int = 0
    why: str = ""
    refused: PddlegoError | None = None


def missing(configs: Sequence[CellConfig]) -> int:
    """How many episodes these cells lack; one that two of them ask for counts once."""
    asked, done = set[tuple[Path, int, int]](), set[tuple[Path, int, int]]()
    for config in configs:
        folder, settings = folder_of(config), config.settings
        asked |= {(folder, game, t) for game in settings.games for t in range(settings.trials)}
        done |= {(folder, row.game, row.trial) for row in read_rows(folder / "episodes.jsonl")}
    return len(asked - done)


@dataclass
class _UnderWay:
    """A cell with the episodes of its present wave that have not ended."""

    cell: OpenCell
    waves: Iterator[list[tuple[int, int]]]
    open_episodes: int = 0


class Pool:
    """The episodes of cells of one model, as many at once as the largest `concurrency` says.

    One thread, that of `play`, opens cells, hands out their episodes and closes them; the threads
    of the pool play. The next cell is opened when not every thread has an episode to go on with.
    `told` is how a cell went.
    """

    def __init__(
        self,
        configs: Sequence[CellConfig],
        models: ModelStore,
        early: EarlyEnd,
        console: Console,
        told: Callable[[CellResult], None],
        view: LiveView,
    ) -> None:
        self._waiting = deque(configs)
        self._models = models
        self._early, self._console, self._told, self._view = early, console, told, view
        self._width = max(config.settings.run.concurrency for config in configs)
        self._threads = ThreadPoolExecutor(self._width)
        self._planners: dict[str, Planner] = {}
        self._under_way: list[_UnderWay] = []
        self._ended: queue.SimpleQueue[tuple[_UnderWay, Future[_End]]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._fatal: PddlegoError | None = None
        self._why_told = ""

    def play(self) -> None:
        """Raises as `run_cells`; a cell that cannot be opened lets those before it finish."""
        try:
            with self._early.on_interrupt(self._in_flight):
                while self._open_enough():
                    self._await_one()
        except BaseException:
            self._stop.set()
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._models.close()  # what is in flight fails now instead of in an hour
            self._close_planners()
            raise
        finally:
            self._threads.shutdown()
            for one in self._under_way:
                one.cell.close()
            self._close_planners()
        if self._fatal:
            raise self._fatal
        for config in self._waiting:
            self._told(CellResult(folder_of(config), 0, [], missing([config]), self._early.why))

    def _in_flight(self) -> int:
        """Episodes that were handed out and have not ended."""
        return sum(one.open_episodes for one in self._under_way)

    def _open_enough(self) -> bool:
        """Opens cells while threads may run out of work; False when all work has ended."""
        while self._waiting and self._in_flight() < 2 * self._width:
            held = any(one.cell.folder == folder_of(self._waiting[0]) for one in self._under_way)
            if held or self._early.why or self._fatal:
                break
            config = self._waiting.popleft()
            try:
                self._open(config)
            except GrammarIgnored as error:
                self._fatal = error
            except OF_ONE_CELL as error:
                self._told(CellResult(folder_of(config), 0, [], refused=error))
            except PddlegoError as error:
                self._fatal = error
        return bool(self._under_way)

    def _open(self, config: CellConfig) -> None:
        with contextlib.ExitStack() as stack:
            cell = OpenCell(config, self._models, self._planner(config), self._stop)
            stack.callback(cell.close)
            self._console.print(
                f"{cell.folder}: {len(cell.missing)} episodes to play, {cell.done} done",
                highlight=False,
            )
            if not cell.ready:
                cell.prepare(self._console)
            stack.pop_all()
        one = _UnderWay(cell, cell.waves())
        self._under_way.append(one)
        self._view.cell_opened(cell.folder, read_rows(cell.folder / "episodes.jsonl"))
        self._go_on(one)

    def _planner(self, config: CellConfig) -> Planner:
        key = json.dumps(config.tree["planner"], sort_keys=True)
        if key not in self._planners:
            self._planners[key] = config.build("planner")
        return self._planners[key]

    def _close_planners(self) -> None:
        for planner in self._planners.values():
            planner.close()

    def _go_on(self, one: _UnderWay) -> None:
        """The next wave of a cell, or its end."""
        episodes = next(one.waves, None)
        if episodes is None:
            self._under_way.remove(one)
            cell = one.cell
            cell.close()
            why = self._early.why if cell.left else ""
            self._told(CellResult(cell.folder, cell.played, sorted(cell.faults), cell.left, why))
            return
        one.open_episodes = len(episodes)
        self._view.begin()
        for game, trial in episodes:
            future = self._threads.submit(self._play_one, one.cell, game, trial)
            future.add_done_callback(lambda ended: self._ended.put((one, ended)))

    def _play_one(self, cell: OpenCell, game: int, trial: int) -> _End:
        """In a thread of the pool."""
        if self._early.why:
            return None
        end = cell.play(game, trial)
        if isinstance(end, EpisodeRow):
            self._early.count(end)
        return end

    def _await_one(self) -> None:
        """Waits for the end of an episode, a moment at most."""
        why = self._early.why
        if why and not self._why_told:
            again = "; Ctrl-C again stops at once" if self._early.interrupted else ""
            self._console.print(f"{why}: what has begun is finished{again}", highlight=False)
            self._why_told = why
        under_way = min(self._in_flight(), self._width)
        self._view.look(under_way, sum(one.waiting for one in self._planners.values()))
        try:
            one, ended = self._ended.get(timeout=POLL_S)
        except queue.Empty:
            return
        one.open_episodes -= 1
        one.cell.note(ended.result())
        if end := ended.result():
            self._view.episode_ended(one.cell.folder, end)
        if not one.open_episodes:
            self._go_on(one)
