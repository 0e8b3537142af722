"""`pddlego run … --dry-run`: lists the cells of a command, their episodes, and what is
missing to play them. Nothing is loaded, started or written.
"""

from collections.abc import Collection, Sequence

from rich.table import Table

from pddlego_local.api.cell_warnings import training_warnings
from pddlego_local.commands.shared.fit import look_at
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.record.folder import Cell
from pddlego_local.core.secrets import hidden_in_word
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.overrides import GROUPS

NAMED = (*GROUPS[:4], "seed")
"""The options that a cell's name shows."""


def list_cells(cells: Sequence[tuple[list[str], CellConfig]]) -> None:
    """Prints a table of the cells and their overrides, the needs of each model, and
    warnings. Raises ConfigError for an impossible model folder or context.
    """
    configs = [config for _, config in cells]
    models = {str(config.tree["model"]): config for config in reversed(configs)}
    fits = [
        look_at(config.labels["model"], config.tree["model"])
        for config in reversed(models.values())
    ]
    show(screen(), _table(cells))
    for fit in fits:
        print(fit)
    for warning in training_warnings(configs):
        print(f"warning: {warning}")


def _table(cells: Sequence[tuple[list[str], CellConfig]]) -> Table:
    """Returns a table with a row for each cell, and the totals."""
    shared = set(cells[0][0]).intersection(*(words for words, _ in cells))
    table = Table("cell", "episodes", "done", "left", show_footer=True)
    totals = [0, 0, 0]
    for words, config in cells:
        episodes = set(config.episodes)
        left = episodes - Cell(config.folder).done()
        numbers = (len(episodes), len(episodes) - len(left), len(left))
        totals = [sum(pair) for pair in zip(totals, numbers, strict=True)]
        name = f"{config.cell}\n  {_own(words, shared)}".rstrip()
        table.add_row(name, *(f"{number:,}" for number in numbers))
    name_column, *columns = table.columns
    name_column.footer = f"cells: {len(cells)}"
    for column, total in zip(columns, totals, strict=True):
        column.footer = f"{total:,}"
        column.justify = "right"
    return table


def _own(words: Sequence[str], shared: Collection[str]) -> str:
    """Returns the overrides that not all cells share and that the cell's name does not
    show.
    """
    own = []
    for word in words:
        if word not in shared and word.partition("=")[0] not in NAMED:
            own.append(hidden_in_word(word))
    return " ".join(own)
