"""`pddlego run`: plays every episode of its cells that has no terminal row yet.

The same command again continues. Cells are played model by model; those of one model share one
pool of threads (`pool`). Results do not depend on how many episodes are played at once, nor on
their company.
"""

import contextlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from rich.console import Console

from pddlego_local.core.record.folder import read_rows
from pddlego_local.runner.cell import CellResult
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.pool import Pool, asked_and_missing
from pddlego_local.runner.progress_display import LiveView
from pddlego_local.runner.shutdown import Shutdown
from pddlego_local.runner.stores import ModelStore


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
    sweep: Collection[Path] = (),
    models: ModelStore | None = None,
) -> None:
    """Plays what is missing of these cells, model by model; `on_result` is called for each.

    The limits are those of the first; tokens that cells of `sweep` have used before count too. What
    hits one cell alone, a fault or another process that is playing it, lets the others go on.
    Models are closed at the end, but for the one that is open in `models`, whose owner closes it.
    Raises ConfigError for a bad configuration, and the infrastructure errors that would hit every
    episode alike (`NEVER_RETRIED`); any other fault is recorded, and tried again by the next run.
    An interrupt raises KeyboardInterrupt, when the episodes in flight have ended.
    """
    console = console or Console(stderr=True)
    folders = {*(config.folder for config in configs), *sweep}
    recorded = (row for folder in folders for row in read_rows(folder / "episodes.jsonl"))
    shutdown = Shutdown(configs[0].settings.run, sum(row.all_tokens for row in recorded))
    with contextlib.ExitStack() as stack:
        store = models or stack.enter_context(contextlib.closing(ModelStore()))
        asked, lacking = asked_and_missing(configs)
        view = LiveView(console, len(configs), asked, lambda: store.restarts, done=asked - lacking)
        stack.callback(view.end)
        for folder in dict.fromkeys(config.folder for config in configs):
            view.count(folder, read_rows(folder / "episodes.jsonl"))

        def cell_ended(result: CellResult) -> None:
            view.cell_ended(whole=not (result.left or result.faults or result.refused))
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
