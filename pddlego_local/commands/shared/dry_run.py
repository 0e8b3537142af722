"""`pddlego run … --dry-run`: lists the cells of a command, their episodes, and what is
missing to play them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from pddlego_local.api.cell_warnings import training_warnings
from pddlego_local.commands.shared.fit import look_at
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.record.folder import Cell
from pddlego_local.core.secrets import hidden_in_word
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.overrides import GROUPS


@dataclass(frozen=True)
class CellCount:
    """A cell with its overrides, and its numbers of episodes and of finished ones."""

    overrides: Sequence[str]
    config: CellConfig
    episodes: int
    done: int


def count(overrides: Sequence[str], config: CellConfig) -> CellCount:
    """Counts from the cell's record, without loading, starting or writing anything.

    Raises ConfigError where a run would raise it.
    """
    config.check()
    episodes = set(config.episodes)
    done = Cell(config.folder).done() & episodes
    return CellCount(overrides, config, len(episodes), len(done))


def list_cells(cells: Sequence[CellCount]) -> None:
    """Prints a table with totals, the needs of each model, and warnings.

    Raises ConfigError for an impossible model folder or context.
    """
    models: dict[str, CellConfig] = {}
    for cell in cells:
        models.setdefault(str(cell.config.tree["model"]), cell.config)
    fits = [
        look_at(config.labels["model"], config.tree["model"])
        for config in models.values()
    ]
    show(screen(), _table(cells))
    for line in fits:
        print(line)
    for warning in training_warnings([cell.config for cell in cells]):
        print(f"warning: {warning}")


def _table(cells: Sequence[CellCount]) -> Table:
    """Returns a table with a row for each cell, and the totals."""
    table = Table(show_footer=True)
    table.add_column("cell", f"cells: {len(cells)}")
    titles = ("episodes", "done", "left")
    for title, total in zip(titles, _numbers(cells), strict=True):
        table.add_column(title, total, justify="right")
    for cell in cells:
        name = f"{cell.config.cell}\n  {_own(cell, cells)}".rstrip()
        table.add_row(name, *_numbers([cell]))
    return table


def _numbers(cells: Sequence[CellCount]) -> list[str]:
    """Returns the sums of the episodes, of those done, and of those left."""
    episodes = sum(cell.episodes for cell in cells)
    done = sum(cell.done for cell in cells)
    return [f"{number:,}" for number in (episodes, done, episodes - done)]


def _own(cell: CellCount, cells: Sequence[CellCount]) -> str:
    """Returns the overrides that not all cells share and that the cell's name does not
    show.
    """
    common = set(cell.overrides).intersection(*(other.overrides for other in cells))
    named = (*GROUPS[:4], "seed")
    return " ".join(
        hidden_in_word(override)
        for override in cell.overrides
        if override not in common and override.split("=")[0] not in named
    )
