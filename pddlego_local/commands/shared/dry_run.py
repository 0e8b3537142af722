"""`pddlego run … --dry-run`: lists the cells of a command, their episodes, and what is
missing to play them. Nothing is loaded, started or written.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from rich.table import Column, Table

from pddlego_local.api.cell_warnings import training_warnings
from pddlego_local.commands.shared.fit import look_at
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.record.folder import Cell
from pddlego_local.core.secrets import hidden_in_word
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.overrides import GROUPS

NAMED = (*GROUPS[:4], "seed")
"""The options that a cell's name shows."""


class AskedCell(NamedTuple):
    """A cell and the overrides that ask for it."""

    words: list[str]
    config: CellConfig


def list_cells(cells: Sequence[AskedCell], model: str = "") -> None:
    """Prints a table of the cells and their overrides, the needs of each model, and
    warnings. `model` names the only model, in place of its YAML file. Raises
    ConfigError for an impossible model folder or context.
    """
    configs = [cell.config for cell in cells]
    models: dict[str, CellConfig] = {}
    for config in configs:
        models.setdefault(str(config.tree["model"]), config)
    fits = []
    for config in models.values():
        fits.append(look_at(model or config.labels["model"], config.tree["model"]))
    show(screen(), _table(cells))
    for fit in fits:
        print(fit)
    for warning in training_warnings(configs):
        print(f"warning: {warning}")


def _table(cells: Sequence[AskedCell]) -> Table:
    """Returns a table with a row for each cell, and the totals."""
    shared = set(cells[0].words)
    shared.intersection_update(*(cell.words for cell in cells))
    table = Table(
        Column("cell", footer=f"cells: {len(cells)}"),
        Column("episodes", justify="right"),
        Column("done", justify="right"),
        Column("left", justify="right"),
        show_footer=True,
    )
    all_asked = 0
    all_left = 0
    for words, config in cells:
        episodes = set(config.episodes)
        asked = len(episodes)
        left = len(episodes - Cell(config.folder).done())
        name = f"{config.cell}\n  {_own(words, shared)}".rstrip()
        table.add_row(name, *_numbers(asked, left))
        all_asked += asked
        all_left += left
    totals = _numbers(all_asked, all_left)
    for column, total in zip(table.columns[1:], totals, strict=True):
        column.footer = total
    return table


def _numbers(asked: int, left: int) -> list[str]:
    return [f"{asked:,}", f"{asked - left:,}", f"{left:,}"]


def _own(words: Sequence[str], shared: Collection[str]) -> str:
    """Returns the overrides that not all cells share and that the cell's name does not
    show.
    """
    own = []
    for word in words:
        option = word.partition("=")[0]
        if word not in shared and option not in NAMED:
            own.append(hidden_in_word(word))
    return " ".join(own)
