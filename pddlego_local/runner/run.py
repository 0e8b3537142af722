"""`pddlego run`: plays every episode of its cells that has no terminal row yet.

The same command again continues. Cells are played model by model; those of one model share one
pool of threads, which take episodes in the cells' order, so that the last of a cell overlap the
first of the next. Results do not depend on how many episodes are played at once, nor on their
company. How an episode is played is in `runner.cell`.
"""

import contextlib
import json
import queue
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType

from rich.console import Console

from pddlego_local.core.errors import PddlegoError
from pddlego_local.core.protocols import Planner
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow, FaultRow
from pddlego_local.runner.cell import CellResult, ModelStore, OpenCell
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.progress_display import LiveView

POLL_S = 0.5

_End = EpisodeRow | FaultRow | None
"""None for an episode that was not begun."""


def run_cell(
    config: CellConfig, console: Console | None = None, models: ModelStore | None = None
) -> CellResult:
    """Plays what is missing of one cell and returns how that went. Raises as `run_cells`, and the
    fault for which no episode could begin."""
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
    """Plays what is missing of these cells, model by model; `on_result` is called for each.

    The limit is that of the first. What hits one cell alone, a fault or another process that is
    playing it, lets the others go on. Models are closed at the end, but for the one that is open in
    `models`, whose owner closes it.
    Raises ConfigError for a bad configuration, and the infrastructure errors that would hit every
    episode alike (`ends_run`); any other fault is recorded, and tried again by the next run.
    An interrupt raises KeyboardInterrupt, when the episodes in flight have ended.
    """
    console = console or Console(stderr=True)
    shutdown = Shutdown(configs[0].settings.run.max_hours)
    with contextlib.ExitStack() as stack:
        store = models or stack.enter_context(contextlib.closing(ModelStore()))
        asked, lacking = asked_and_missing(configs)
        view = LiveView(console, len(configs), asked, lambda: store.restarts, done=asked - lacking)
        stack.callback(view.end)
        for folder in dict.fromkeys(config.folder for config in configs):
            for row in read_rows(folder / "episodes.jsonl"):
                view.standing.add(folder, row)

        def cell_ended(result: CellResult) -> None:
            view.cells_done += not (result.left or result.faults or result.refused)
            on_result(result)

        for cells in _by_model(configs):
            Pool(cells, store, shutdown, console, cell_ended, view).play()
    if shutdown.interrupted:
        raise KeyboardInterrupt


def _by_model(configs: Sequence[CellConfig]) -> Iterable[list[CellConfig]]:
    """The cells of each model together, in the order in which the models come."""
    groups: dict[str, list[CellConfig]] = defaultdict(list)
    for config in configs:
        groups[json.dumps(config.tree["model"], sort_keys=True)].append(config)
    return groups.values()


def asked_and_missing(configs: Sequence[CellConfig]) -> tuple[int, int]:
    """How many episodes these cells ask for, and how many of them have no result; one that two
    cells ask for counts once."""
    asked = {(config.folder, *episode) for config in configs for episode in config.episodes}
    done = {
        (folder, row.game, row.trial)
        for folder in {config.folder for config in configs}
        for row in read_rows(folder / "episodes.jsonl")
    }
    return len(asked), len(asked - done)


class Shutdown:
    """Whether episodes may still begin: until so many hours from here, or Ctrl-C. Thread-safe.

    Those that have begun are finished and recorded, so that nothing is lost and the same command
    goes on.
    """

    def __init__(self, max_hours: float | None) -> None:
        self.interrupted = False
        self._max_hours, self._began = max_hours, time.monotonic()

    @property
    def reason(self) -> str:
        """In words, "" while episodes may begin."""
        if self.interrupted:
            return "interrupted"
        most = self._max_hours
        if most is not None and time.monotonic() - self._began >= 3600 * most:
            return f"run.max_hours={most:g} is reached"
        return ""

    @contextlib.contextmanager
    def on_interrupt(self, in_flight: Callable[[], int]) -> Iterator[None]:
        """Within the block, the first Ctrl-C while episodes are in flight lets them finish; any
        other raises KeyboardInterrupt. Outside of the main thread nothing changes."""
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
    """The episodes of cells of one model, as many at once as the largest `concurrency` says.

    One thread, that of `play`, opens cells, hands out their episodes and closes them; the threads
    of the pool play. The next cell is opened when not every thread has an episode to go on with.
    `on_result` is called when a cell has ended.
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
        self._models, self._shutdown, self._console = models, shutdown, console
        self._on_result, self._view = on_result, view
        self._width = max(config.settings.run.concurrency for config in configs)
        self._threads = ThreadPoolExecutor(self._width)
        self._planners: dict[str, Planner] = {}
        self._cells: list[OpenCell] = []
        self._ended: queue.SimpleQueue[tuple[OpenCell, Future[_End]]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._fatal: PddlegoError | None = None
        self._announced = False

    def play(self) -> None:
        """Raises as `run_cells`; a cell that cannot be opened lets those before it finish."""
        try:
            with self._shutdown.on_interrupt(self._in_flight):
                while self._open_enough():
                    self._await_one()
        except BaseException:
            self._stop.set()
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._models.close()  # what is in flight fails now instead of in an hour
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
            self._on_result(CellResult(config.folder, left=left, reason=self._shutdown.reason))

    def _in_flight(self) -> int:
        """Episodes that were handed out and have not ended."""
        return sum(cell.in_flight for cell in self._cells)

    def _open_enough(self) -> bool:
        """Opens cells while threads may run out of work; False when all work has ended."""
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
        key = json.dumps(config.tree["planner"], sort_keys=True)
        if key not in self._planners:
            self._planners[key] = config.build("planner")
        cell = OpenCell(config, self._models, self._planners[key], self._stop)
        try:
            line = f"{cell.folder}: {len(cell.missing)} episodes to play, {cell.done} done"
            self._console.print(line, highlight=False)
            if not cell.ready:
                cell.prepare(self._console)
        except BaseException:
            cell.close()
            raise
        self._cells.append(cell)
        self._go_on(cell)

    def _go_on(self, cell: OpenCell) -> None:
        """The next episodes of a cell, or its end."""
        episodes = next(cell.waves, [])
        if not episodes:
            self._cells.remove(cell)
            cell.close()
            result = cell.result
            result.faults.sort()
            result.reason = self._shutdown.reason if result.left else ""
            self._on_result(result)
            return
        self._view.begin()
        for game, trial in episodes:
            future = self._threads.submit(self._play_one, cell, game, trial)
            future.add_done_callback(lambda ended: self._ended.put((cell, ended)))

    def _play_one(self, cell: OpenCell, game: int, trial: int) -> _End:
        """In a thread of the pool."""
        if self._shutdown.reason:
            return None
        return cell.play(game, trial)

    def _await_one(self) -> None:
        """Waits for the end of an episode, a moment at most."""
        if not self._announced and (reason := self._shutdown.reason):
            again = "; Ctrl-C again stops at once" if self._shutdown.interrupted else ""
            self._console.print(f"{reason}: what has begun is finished{again}", highlight=False)
            self._announced = True
        under_way = min(self._in_flight(), self._width)
        self._view.update(under_way, sum(one.waiting for one in self._planners.values()))
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
