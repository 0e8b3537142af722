"""`pddlego run … --dry-run`: the cells of a command, and what they may still cost."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from pddlego_local.commands.fit import Asked, Fit, look_at, room_for_records
from pddlego_local.config import GROUPS, CellConfig, compose_cell
from pddlego_local.decoding import Decoding
from pddlego_local.errors import PddlegoError
from pddlego_local.methods import Method
from pddlego_local.record import Cell

PIPE_WIDTH = 160  # columns, where nobody says how wide the page is


@dataclass(frozen=True)
class CellAhead:
    """A cell's episodes, counted, and the model calls that those left may need at most.

    `overrides` are this cell's own.
    """

    cell: str
    overrides: tuple[str, ...]
    episodes: int
    done: int
    calls: int

    @property
    def left(self) -> int:
        return self.episodes - self.done


def show(cells: Sequence[Sequence[str]], tell: Callable[[PddlegoError], int]) -> int:
    """Prints one table and its totals, what each model needs, and the disk.

    0, or the exit code of the worst mistake in the cells. `cells` are the overrides of each;
    mistakes are reported as by the run itself. Nothing is loaded, started or written.
    """
    ahead: list[CellAhead] = []
    models: dict[str, Fit] = {}
    errors: dict[str, PddlegoError] = {}
    checked: list[object] = []
    for overrides in cells:
        try:
            config = compose_cell(overrides)
            _check(config, checked)
            ahead.append(look_ahead(config, tuple(overrides)))
            if (model := str(config.tree["model"])) not in models:
                models[model] = _model(config)
        except PddlegoError as error:
            errors.setdefault(str(error), error)
    if errors:
        return max(tell(error) for error in errors.values())
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(_table(ahead))
    out = config.settings.run.out
    for line in (*models.values(), room_for_records(out, sum(cell.calls for cell in ahead))):
        print(line)
    return 0


def _model(config: CellConfig) -> Fit:
    """Whether it will fit, and whether its files are here."""
    asked = Asked(config.settings.run.concurrency)
    return look_at(config.labels["model"], config.tree["model"], asked)


def look_ahead(config: CellConfig, overrides: tuple[str, ...]) -> CellAhead:
    """Counts one cell's episodes from what is recorded of it."""
    settings = config.settings
    method: Method = config.build("method")
    decoding: Decoding = config.build("decoding")
    budget = config.build("environment").budget
    episodes = {(game, trial) for game in settings.games for trial in range(settings.trials)}
    done = Cell(settings.run.out / settings.name / config.cell).done() & episodes
    calls = method.most_calls(budget, decoding.best_of) * (len(episodes) - len(done))
    return CellAhead(config.cell, overrides, len(episodes), len(done), calls)


def _check(config: CellConfig, checked: list[object]) -> None:
    """As `CellConfig.check`, but each part that several cells share is built once."""
    _ = config.settings
    for group in GROUPS:
        part = config.tree[group]
        if part not in checked:
            config.build(group)
            checked.append(part)


def _table(ahead: Sequence[CellAhead]) -> Table:
    table = Table(caption="Calls: the most that the methods' limits allow.", show_footer=True)
    table.add_column("cell", f"cells: {len(ahead)}", no_wrap=True)
    table.add_column("differs in")
    for title, numbers in {
        "episodes": [cell.episodes for cell in ahead],
        "done": [cell.done for cell in ahead],
        "left": [cell.left for cell in ahead],
        "model calls, up to": [cell.calls for cell in ahead],
    }.items():
        table.add_column(title, f"{sum(numbers):,}", justify="right", no_wrap=True)
    for cell in ahead:
        numbers = [cell.episodes, cell.done, cell.left, cell.calls]
        table.add_row(cell.cell, _own(cell, ahead), *(f"{number:,}" for number in numbers))
    return table


def _own(cell: CellAhead, ahead: Sequence[CellAhead]) -> str:
    """The overrides that not all cells share and that the cell's name does not show."""
    common = set(cell.overrides).intersection(*(other.overrides for other in ahead))
    named = (*GROUPS[:4], "seed")
    own = [
        override
        for override in cell.overrides
        if override not in common and override.split("=")[0] not in named
    ]
    return " ".join(own)
