"""sweep.json, beside the cells of a sweep: which cells it will play, how many episodes each has,
and by which overrides, model by model, and what its report shall compare.

Written before the first of them begins, so that whoever looks on knows of all, and a job on another
machine knows the cells that share its model. The last sweep's replaces that of an earlier one.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.folder import recording
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.provenance import now

NAME = "sweep.json"

T = TypeVar("T")
Overrides = Sequence[str]


def by_model(configs: Iterable[CellConfig]) -> list[list[CellConfig]]:
    """The cells of each model together, in the order in which the models come."""
    groups: dict[str, list[CellConfig]] = {}
    for config in configs:
        key = json.dumps(config.tree["model"], sort_keys=True)
        groups.setdefault(key, []).append(config)
    return list(groups.values())


def write_sweep(cells: Iterable[tuple[Overrides, CellConfig]]) -> None:
    """Each cell by its overrides. Raises RecordFault if it cannot be written."""
    by_folder: dict[Path, list[tuple[Overrides, CellConfig]]] = {}
    for overrides, config in cells:
        folder = config.settings.run.out / config.settings.name
        by_folder.setdefault(folder, []).append((overrides, config))
    for folder, its_cells in by_folder.items():
        path = folder / NAME
        with recording(path):
            folder.mkdir(parents=True, exist_ok=True)
            replacement = path.with_suffix(".new")
            replacement.write_text(json.dumps(_told(its_cells), indent=2, sort_keys=True) + "\n")
            replacement.replace(path)


def _told(cells: Sequence[tuple[Overrides, CellConfig]]) -> dict[str, Any]:
    """Of a cell that is asked for twice, the wish for more episodes."""
    episodes, overrides = dict[str, int](), dict[str, list[str]]()
    for words, config in cells:
        asked = len(config.settings.games) * config.settings.trials
        if asked > episodes.get(config.cell, -1):
            episodes[config.cell], overrides[config.cell] = asked, list(words)
    groups = by_model(config for _, config in cells)
    models = [{config.cell: overrides[config.cell] for config in group} for group in groups]
    compare = cells[0][1].tree.get("compare")
    return {"cells": episodes, "models": models, "compare": compare, "began": now()}


def read_sweeps(folder: Path) -> dict[Path, int]:
    """Each cell's folder and its episodes, of all sweeps at or below a folder.

    Raises ConfigError for a file that is no record of ours.
    """
    planned: dict[Path, int] = {}
    for path in sorted(folder.rglob(NAME)):
        cells = _read(path, lambda told: {k: int(n) for k, n in told["cells"].items()})
        planned |= {path.parent / cell: episodes for cell, episodes in cells.items()}
    return planned


def read_models(folder: Path) -> list[dict[str, list[str]]]:
    """The overrides of each cell of the sweep in this folder, the cells of each model together.

    Raises ConfigError for a file that is no record of ours, or none at all.
    """
    return _read(folder / NAME, lambda told: [dict(cells) for cells in told["models"]])


def read_asked(folder: Path) -> tuple[str, Any]:
    """When the sweep of this folder began, and its `compare`; of none, "" and None.

    Raises ConfigError for a file that is no record of ours.
    """
    if not (folder / NAME).exists():
        return "", None
    return _read(folder / NAME, lambda told: (str(told.get("began", "")), told.get("compare")))


def _read(path: Path, parse: Callable[[Any], T]) -> T:
    try:
        return parse(json.loads(path.read_text()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is not a record of ours: {error!r}; move it away") from error
