"""`pddlego run … --dry-run`: lists the cells of a command and estimates their remaining
cost.
"""

import glob
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.filesize import decimal
from rich.table import Table

from pddlego_local.commands.shared.fit import look_at
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.commands.shared.training_warnings import training_warnings
from pddlego_local.core.errors import InfrastructureError
from pddlego_local.core.outcomes import OUTCOMES
from pddlego_local.core.record.folder import Cell, read_rows
from pddlego_local.core.resources import table
from pddlego_local.core.secrets import hidden_in_word
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.overrides import GROUPS

# of transcript; 42 episodes of SmolLM2 with one call each took 4 to 9 kB each
CALL_BYTES = 9_000
BY_REFERENCE = "the calls that perfect answers need, a low estimate for a model"

Expected = tuple[int, str] | None
"""The expected number of model calls and its source in words; None if there is no
estimate.
"""


@dataclass(frozen=True)
class CellCount:
    """A cell with its overrides, its numbers of episodes and of finished ones, and the
    model calls that the other episodes need: `calls` at most, and `expected`.
    """

    overrides: Sequence[str]
    config: CellConfig
    episodes: int
    done: int
    calls: int
    expected: Expected


def count(overrides: Sequence[str], config: CellConfig) -> CellCount:
    """Counts from the cell's record, without loading, starting or writing anything.

    Raises ConfigError where a run would raise it.
    """
    built, episodes = config.check(), set(config.episodes)
    done = len(Cell(config.folder).done() & episodes)
    best_of, left = built["decoding"].best_of, len(episodes) - done
    most = left * built["method"].most_calls(built["environment"].budget, best_of)
    expected = _expected(config, left * best_of, most)
    return CellCount(overrides, config, len(episodes), done, most, expected)


def _expected(config: CellConfig, answers: int, most: int) -> Expected:
    """Estimates the model calls. `answers` is the number of answers to one request per
    episode. The mean requests per episode are taken from this cell's record, else from
    other records with the same environment and method (with the same model, if there
    are any), else from the reference.
    """
    environment, method, model, _ = (config.labels[group] for group in GROUPS[:4])
    out, kind = config.settings.run.out, glob.escape(f"{environment}-{method}")
    alike = [
        [config.folder],
        out.glob(f"*/{kind}-{glob.escape(model)}-*"),
        out.glob(f"*/{kind}-*"),
    ]
    for folders in alike:
        rows = [
            row
            for folder in folders
            for row in read_rows(folder / "episodes.jsonl", [])
        ]
        if requests := [row.calls for row in rows if OUTCOMES[row.outcome].played]:
            each = sum(requests) / len(requests)
            return min(most, round(answers * each)), f"the records in {out}"
    by_reference: dict[str, Any] = table(__file__, "reference_calls.yaml")
    if each := by_reference.get(environment, {}).get(method):
        return min(most, round(answers * each)), BY_REFERENCE
    return None if most else (0, "the method, which makes no requests")


def list_cells(cells: Sequence[CellCount]) -> int:
    """Prints a table with totals, the needs of each model, and the disk space. Returns
    0, or 3 if the disk is too small. Raises ConfigError for an impossible model
    folder.
    """
    models = {str(cell.config.tree["model"]): cell.config for cell in reversed(cells)}
    fits = [
        look_at(config.labels["model"], config.tree["model"])
        for config in reversed(models.values())
    ]
    show(screen(), _table(cells))
    out = cells[-1].config.settings.run.out
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    most, free = (
        CALL_BYTES * sum(cell.calls for cell in cells),
        shutil.disk_usage(there).free,
    )
    disk = (
        f"records   {'enough' if most <= free else 'TOO LITTLE'} room in {out}:"
        f" {decimal(free)} are free, and all calls need {decimal(most)} (about"
        f" {CALL_BYTES / 1000:.0f} kB each)"
    )
    warnings = training_warnings([cell.config for cell in cells])
    for line in (
        _calls(cells),
        *fits,
        disk,
        *(f"warning: {text}" for text in warnings),
    ):
        print(line)
    return 0 if most <= free else InfrastructureError.exit_code


def _calls(cells: Sequence[CellCount]) -> str:
    """Returns the expected and the maximal calls of all cells, and the source of the
    estimate.
    """
    most = f"{sum(cell.calls for cell in cells):,} at most"
    known = [cell.expected for cell in cells if cell.expected]
    if not known:
        return f"calls     {most}; no record allows an estimate"
    expected = f"about {sum(number for number, _ in known):,} expected"
    if unknown := len(cells) - len(known):
        expected += f" without {unknown} cells for which there is no estimate"
    sources = " and ".join(dict.fromkeys(source for _, source in known))
    return f"calls     {expected}, {most}; estimated from {sources}"


def _table(cells: Sequence[CellCount]) -> Table:
    """Returns a table with a row for each cell, and the totals."""
    table = Table(
        caption="Model calls: upper bounds from the methods' limits.", show_footer=True
    )
    table.add_column("cell", f"cells: {len(cells)}")
    titles = ("episodes", "done", "left", "model calls, up to")
    for title, total in zip(titles, _numbers(cells), strict=True):
        table.add_column(title, total, justify="right")
    for cell in cells:
        name = f"{cell.config.cell}\n  {_own(cell, cells)}".rstrip()
        table.add_row(name, *_numbers([cell]))
    return table


def _numbers(cells: Sequence[CellCount]) -> list[str]:
    """Returns the sums of the episodes, of those done and left, and of the calls."""
    numbers = [
        (cell.episodes, cell.done, cell.episodes - cell.done, cell.calls)
        for cell in cells
    ]
    return [f"{sum(column):,}" for column in zip(*numbers, strict=True)]


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
