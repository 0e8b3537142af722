"""sweep.json, beside the cells of a sweep: which cells it will play, how many episodes each has,
and what its report shall compare.

Written before the first of them begins, so that whoever looks on knows of all. The last sweep's
replaces that of an earlier one.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import now
from pddlego_local.core.record.folder import recording, write_json
from pddlego_local.runner.config import CellConfig

NAME = "sweep.json"

T = TypeVar("T")


def by_model(configs: Iterable[CellConfig]) -> list[list[CellConfig]]:
    """The cells of each model together, in the order in which the models come."""
    groups: dict[str, list[CellConfig]] = {}
    for config in configs:
        key = json.dumps(config.tree["model"], sort_keys=True)
        groups.setdefault(key, []).append(config)
    return list(groups.values())


def write_sweep(cells: Iterable[CellConfig]) -> None:
    """Raises RecordFault if it cannot be written."""
    by_folder: dict[Path, list[CellConfig]] = defaultdict(list)
    for config in cells:
        by_folder[config.settings.run.out / config.settings.name].append(config)
    for folder, its_cells in by_folder.items():
        path = folder / NAME
        with recording(path):
            folder.mkdir(parents=True, exist_ok=True)
        write_json(path, _told(its_cells))


def _told(cells: Sequence[CellConfig]) -> dict[str, Any]:
    """Of a cell that is asked for twice, the wish for more episodes."""
    episodes: dict[str, int] = {}
    for config in cells:
        asked = len(config.settings.games) * config.settings.trials
        episodes[config.cell] = max(asked, episodes.get(config.cell, 0))
    return {"cells": episodes, "compare": cells[0].tree.get("compare"), "began": now()}


def read_sweeps(folder: Path) -> dict[Path, int]:
    """Each cell's folder and its episodes, of all sweeps at or below a folder.

    Raises ConfigError for a file that is no record of ours.
    """
    planned: dict[Path, int] = {}
    for path in sorted(folder.rglob(NAME)):
        cells = _read(path, lambda told: {k: int(n) for k, n in told["cells"].items()})
        planned |= {path.parent / cell: episodes for cell, episodes in cells.items()}
    return planned


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
