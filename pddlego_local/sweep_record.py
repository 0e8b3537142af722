"""sweep.json, beside the cells of a sweep: which cells it will play and how many episodes each has.

Written before the first of them begins, so that whoever looks on knows of all. The last sweep's
replaces that of an earlier one.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from pddlego_local.config import CellConfig
from pddlego_local.errors import ConfigError, RecordFault

NAME = "sweep.json"


def write_sweep(configs: Iterable[CellConfig]) -> None:
    """Raises RecordFault if it cannot be written."""
    by_folder: dict[Path, dict[str, int]] = {}
    for config in configs:
        settings = config.settings
        cells = by_folder.setdefault(settings.run.out / settings.name, {})
        episodes = len(settings.games) * settings.trials
        cells[config.cell] = max(episodes, cells.get(config.cell, 0))
    for folder, cells in by_folder.items():
        path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            replacement = path.with_suffix(".new")
            replacement.write_text(json.dumps({"cells": cells}, indent=2, sort_keys=True) + "\n")
            replacement.replace(path)
        except OSError as error:
            raise RecordFault(f"cannot write {path}: {error.strerror or error}") from error


def read_sweeps(folder: Path) -> dict[Path, int]:
    """Each cell's folder and its episodes, of all sweeps at or below a folder.

    Raises ConfigError for a file that is no record of ours.
    """
    planned: dict[Path, int] = {}
    for path in sorted(folder.rglob(NAME)):
        try:
            cells = json.loads(path.read_text())["cells"]
            planned |= {path.parent / cell: int(episodes) for cell, episodes in cells.items()}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ConfigError(f"{path} is not a record of ours: {error!r}; move it away") from error
    return planned
