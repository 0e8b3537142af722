"""`pddlego run`: plays every episode of its cells that has no terminal row yet.

Rerunning the command continues the run. Cells are played model by model. The cells of
one model share one thread pool, which takes episodes in the order of the cells, so the
last episodes of a cell overlap with the first of the next cell. Results do not depend
on how many episodes, or which, are played at the same time. `runner.cell` plays a
single episode.
"""

import contextlib
import json
import queue
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import FrameType

from rich.console import Console

from pddlego_local.core.console import literal_console
from pddlego_local.core.errors import PddlegoError
from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.protocols import Planner
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow, FaultRow, GameTrial
from pddlego_local.runner.cell import CellResult, ModelStore, OpenCell
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.progress_display import LiveView

POLL_S = 0.5

_End = EpisodeRow | FaultRow | None
"""The end of an episode; None if the episode was not begun or was stopped."""


def run_cell(
    config: CellConfig, console: Console | None = None, models: ModelStore | None = None
) -> CellResult:
    """Plays the missing episodes of one cell and returns the result.

    Raises the errors of `run_cells`, and the error because of which no episode could
    begin.
    """
    results: list[CellResult] = []
    run_cells([config], results.append, console, models=models)
    (result,) = results
    if result.refused:
        raise result.refused
    return result


def run_cells(
    configs: Sequence[CellConfig],
    on_result: Callable[[CellResult], None],
    console: Console | None = None,
    models: ModelStore | None = None,
) -> None:
    """Plays the missing episodes of these cells, model by model; calls `on_result` for
    each cell.

    The first cell's `max_hours` applies to all. A fault of a single cell, or another
    process that is playing it, does not stop the other cells. Models are closed at the
    end, except the one that is open in `models`: the caller closes it.

    Raises ConfigError for a bad configuration, and infrastructure errors that would
    affect every episode (`ends_run`). Any other fault is recorded, and the next run
    tries the episode again. After an interrupt, raises KeyboardInterrupt when the
    episodes in flight have ended.
    """
    console = console or literal_console(stderr=True)
    shutdown = Shutdown(configs[0].settings.run.max_hours)
    with contextlib.ExitStack() as stack:
        store = models or stack.enter_context(contextlib.closing(ModelStore()))
        asked, lacking = asked_and_missing(configs)
        view = LiveView(
            console, len(configs), asked, lambda: store.restarts, done=asked - lacking
        )
        stack.callback(view.end)
        for folder in dict.fromkeys(config.folder for config in configs):
            for row in read_rows(folder / "episodes.jsonl"):
                view.standing.add(folder, row)

        def cell_ended(result: CellResult) -> None:
            if not (result.left or result.faults or result.refused):
                view.cells_done += 1
            on_result(result)

        by_model = grouped_by(configs, lambda config: _key(config, "model"))
        for cells in by_model.values():
            Pool(cells, store, shutdown, console, cell_ended, view).play()
    if shutdown.interrupted:
        raise KeyboardInterrupt


def asked_and_missing(configs: Sequence[CellConfig]) -> tuple[int, int]:
    """Returns how many episodes these cells request, and how many of them have no
    result. An episode that two cells request is counted once.
    """
    asked = defaultdict[Path, set[GameTrial]](set)
    for config in configs:
        asked[config.folder].update(config.episodes)
    missing = 0
    for folder, episodes in asked.items():
        done = {row.episode for row in read_rows(folder / "episodes.jsonl")}
        missing += len(episodes - done)
    return sum(map(len, asked.values())), missing


def _key(config: CellConfig, group: str) -> str:
    """Returns what cells have in common that can share the part of this group."""
    return json.dumps(config.tree[group], sort_keys=True)


class Shutdown:
    """Decides whether episodes may still begin: until `max_hours` or Ctrl-C.
    Thread-safe.

    Episodes that have begun are finished and recorded, so nothing is lost, and
    rerunning the command continues.
    """

    def __init__(self, max_hours: float | None) -> None:
        self.interrupted = False
        self._max_hours = max_hours
        self._began = time.monotonic()

    @property
    def reason(self) -> str:
        """Why no further episode may begin, "" while episodes may begin."""
        if self.interrupted:
            return "interrupted"
        hours = (time.monotonic() - self._began) / 3600
        if self._max_hours is not None and hours >= self._max_hours:
            return f"run.max_hours={self._max_hours:g} is reached"
        return ""

    @contextlib.contextmanager
    def on_interrupt(self, in_flight: Callable[[], int]) -> Iterator[None]:
        """Within the block, the first Ctrl-C while episodes are in flight lets them
        finish. Any other Ctrl-C raises KeyboardInterrupt. Outside the main thread,
        nothing changes.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handle(number: int, frame: FrameType | None) -> None:
            if self.interrupted or not in_flight():
                signal.default_int_handler(number, frame)
            self.interrupted = True

        before = signal.signal(signal.SIGINT, handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class Pool:
    """Plays the episodes of the cells of one model in `concurrency` threads (the cells'
    largest).

    The thread of `play` opens the cells, hands out their episodes and closes the cells.
    The threads of the pool play the episodes. The next cell is opened when fewer than
    two episodes per thread are left in the open cells. `on_result` is called when a
    cell has ended.
    """

    def __init__(
        self,
        configs: Sequence[CellConfig],
        models: ModelStore,
        shutdown: Shutdown,
        console: Console,
        on_result: Callable[[CellResult], None],
        view: LiveView,
    ) -> None:
        self._waiting = deque(configs)
        self._models = models
        self._shutdown = shutdown
        self._console = console
        self._on_result = on_result
        self._view = view
        self._width = max(config.settings.run.concurrency for config in configs)
        self._threads = ThreadPoolExecutor(self._width)
        self._planners: dict[str, Planner] = {}
        self._cells: list[OpenCell] = []
        self._ended = queue.SimpleQueue[tuple[OpenCell, Future[_End]]]()
        self._stop = threading.Event()
        self._fatal: PddlegoError | None = None
        self._announced = False

    def play(self) -> None:
        """Plays all cells. An error on opening a cell is raised when the earlier cells
        have ended.

        Raises the errors of `run_cells`.
        """
        try:
            with self._shutdown.on_interrupt(self._in_flight):
                while self._open_enough():
                    self._await_one()
        except BaseException:
            self._stop.set()
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._models.close()  # so the episodes in flight fail now, not in an hour
            raise
        finally:
            for planner in self._planners.values():
                planner.close()
            self._threads.shutdown()
            for cell in self._cells:
                cell.close()
        if self._fatal:
            raise self._fatal
        for config in self._waiting:
            _, left = asked_and_missing([config])
            reason = self._shutdown.reason
            self._on_result(CellResult(config.folder, left=left, reason=reason))

    def _in_flight(self) -> int:
        """Returns how many episodes were handed out and have not ended."""
        return sum(cell.in_flight for cell in self._cells)

    def _open_enough(self) -> bool:
        """Opens cells while threads may run out of work. Returns False when all work
        has ended.
        """
        while self._waiting and self._in_flight() < 2 * self._width:
            config = self._waiting[0]
            held = any(cell.folder == config.folder for cell in self._cells)
            if held or self._shutdown.reason or self._fatal:
                break
            self._waiting.popleft()
            try:
                self._open(config)
            except PddlegoError as error:
                if error.ends_run:
                    self._fatal = error
                else:
                    self._on_result(CellResult(config.folder, refused=error))
        return bool(self._cells)

    def _open(self, config: CellConfig) -> None:
        key = _key(config, "planner")
        if key not in self._planners:
            self._planners[key] = config.build("planner")
        cell = OpenCell(config, self._models, self._planners[key], self._stop)
        try:
            to_play = len(cell.missing)
            self._console.print(
                f"{cell.folder}: {to_play} episodes to play, {cell.done} done"
            )
            if not cell.ready:
                cell.prepare(self._console)
        except BaseException:
            cell.close()
            raise
        self._cells.append(cell)
        self._go_on(cell)

    def _go_on(self, cell: OpenCell) -> None:
        """Hands out the next episodes of a cell, or ends the cell."""
        episodes = next(cell.waves, [])
        if not episodes:
            self._cells.remove(cell)
            cell.close()
            cell.result.faults.sort()
            if cell.result.left:
                cell.result.reason = cell.given_up or self._shutdown.reason
            self._on_result(cell.result)
            return
        self._view.begin()
        for game, trial in episodes:
            future = self._threads.submit(self._play_one, cell, game, trial)
            future.add_done_callback(lambda ended: self._ended.put((cell, ended)))

    def _play_one(self, cell: OpenCell, game: int, trial: int) -> _End:
        """Plays one episode, in a thread of the pool."""
        if self._shutdown.reason:
            return None
        return cell.play(game, trial)

    def _await_one(self) -> None:
        """Waits for the end of an episode, `POLL_S` seconds at most."""
        if not self._announced and (reason := self._shutdown.reason):
            line = f"{reason}: finishing current episodes"
            if self._shutdown.interrupted:
                line += "; Ctrl-C again stops at once"
            self._console.print(line)
            self._announced = True
        under_way = min(self._in_flight(), self._width)
        planner_queue = sum(planner.waiting for planner in self._planners.values())
        self._view.update(under_way, planner_queue)
        try:
            cell, future = self._ended.get(timeout=POLL_S)
        except queue.Empty:
            return
        end = future.result()
        cell.ended(end)
        if end:
            self._view.episode_ended(cell.folder, end)
        if not cell.in_flight:
            self._go_on(cell)
