"""`pddlego run … --dry-run`: the cells of a command, and what they may still cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table

from pddlego_local.commands.shared.fit import (
    CALL_BYTES,
    Asked,
    Fit,
    free_at,
    look_at,
    room_for_records,
)
from pddlego_local.commands.shared.screen import screen
from pddlego_local.commands.shared.screen import show as show_table
from pddlego_local.commands.shared.unlearned import what_they_never_learned
from pddlego_local.core.errors import InfrastructureError, PddlegoError
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.folder import Cell
from pddlego_local.decoding import Decoding
from pddlego_local.methods import Method
from pddlego_local.runner.config import GROUPS, CellConfig, compose_cell

MOST_LINES = 24  # of cells; more of them are summed up by model


@dataclass(frozen=True)
class CellAhead:
    """A cell's episodes, counted, and the model calls that those left may need at most.

    `overrides` are this cell's own.
    """

    cell: str
    model: str
    overrides: tuple[str, ...]
    episodes: int
    done: int
    calls: int

    @property
    def left(self) -> int:
        return self.episodes - self.done


def show(
    cells: Sequence[Sequence[str]], tell: Callable[[PddlegoError], int], every_cell: bool
) -> int:
    """Prints one table and its totals, what each model needs, and the disk.

    0, the exit code of the worst mistake in the cells, or 3 if the disk is too small. `cells` are
    the overrides of each; mistakes are reported as by the run itself. Nothing is loaded, started or
    written.
    """
    configs: list[CellConfig] = []
    ahead: list[CellAhead] = []
    models: dict[str, Fit] = {}
    errors: dict[str, PddlegoError] = {}
    checked: list[object] = []
    for overrides in cells:
        try:
            config = compose_cell(overrides)
            _check(config, checked)
            configs.append(config)
            ahead.append(look_ahead(config, tuple(overrides)))
            if (model := str(config.tree["model"])) not in models:
                models[model] = _model(config)
        except PddlegoError as error:
            errors.setdefault(str(error), error)
    if errors:
        return max(tell(error) for error in errors.values())
    table = _table(ahead) if every_cell or len(ahead) <= MOST_LINES else _by_model(ahead)
    show_table(screen(), table)
    out, calls = config.settings.run.out, sum(cell.calls for cell in ahead)
    warnings = (f"warning: {warning}" for warning in what_they_never_learned(configs))
    for line in (*models.values(), room_for_records(out, calls), *warnings):
        print(line)
    return 0 if calls * CALL_BYTES <= free_at(out) else InfrastructureError.exit_code


def _model(config: CellConfig) -> Fit:
    """Whether it will fit, and whether its files are here."""
    asked = Asked(config.settings.run.concurrency)
    return look_at(config.labels["model"], config.tree["model"], asked)


def look_ahead(config: CellConfig, overrides: tuple[str, ...]) -> CellAhead:
    """Counts one cell's episodes from what is recorded of it."""
    settings = config.settings
    method: Method = config.build("method")
    decoding: Decoding = config.build("decoding")
    environment: Environment = config.build("environment")
    config.check_games(environment)
    budget = environment.budget
    episodes = {(game, trial) for game in settings.games for trial in range(settings.trials)}
    done = Cell(settings.run.out / settings.name / config.cell).done() & episodes
    calls = method.most_calls(budget, decoding.best_of) * (len(episodes) - len(done))
    return CellAhead(
        config.cell, config.labels["model"], overrides, len(episodes), len(done), calls
    )


def _check(config: CellConfig, checked: list[object]) -> None:
    """As `CellConfig.check`, but each part that several cells share is built once."""
    _ = config.settings
    for group in GROUPS:
        part = config.tree[group]
        if part not in checked:
            config.build(group)
            checked.append(part)


def _table(ahead: Sequence[CellAhead]) -> Table:
    table = _numbered("cell", ahead)
    for cell in ahead:
        name = f"{cell.cell}\n  {own}" if (own := _own(cell, ahead)) else cell.cell
        table.add_row(name, *_numbers([cell]))
    return table


def _by_model(ahead: Sequence[CellAhead]) -> Table:
    table = _numbered("model", ahead)
    for model in dict.fromkeys(cell.model for cell in ahead):
        cells = [cell for cell in ahead if cell.model == model]
        table.add_row(f"{model}, {len(cells)} cells", *_numbers(cells))
    return table


def _numbered(first: str, ahead: Sequence[CellAhead]) -> Table:
    """An empty table with its totals."""
    caption = "Calls: the most that the methods' limits allow."
    if first == "model":
        caption += " Each cell: --dry-run=cells."
    table = Table(caption=caption, show_footer=True)
    table.add_column(first, f"cells: {len(ahead)}")
    titles = ("episodes", "done", "left", "model calls, up to")
    for title, total in zip(titles, _numbers(ahead), strict=True):
        table.add_column(title, total, justify="right")
    return table


def _numbers(cells: Sequence[CellAhead]) -> list[str]:
    """Their episodes, those done and left, and calls."""
    numbers = [(cell.episodes, cell.done, cell.left, cell.calls) for cell in cells]
    return [f"{sum(column):,}" for column in zip(*numbers, strict=True)]


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
