"""A sweep: its cells, the file sweep.json beside them, and the jobs of a Slurm or Ray launcher.

sweep.json lists the cells of the sweep, the number of episodes of each, and the comparisons for the
report. It is written before the first cell begins, so that a report can list all cells from the
start. A later sweep replaces the file. A Slurm or Ray launcher starts one job for each cell. Two
jobs never play the same cell: the second one finds the lock in the cell's folder
(`core.record.folder`).
"""

import importlib
import itertools
import math
import os
import shutil
import socket
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NotRequired

import pydantic
from omegaconf import DictConfig
from typing_extensions import TypedDict

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.formats import now
from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.folder import recording, write_json
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.overrides import read_override, values_of

MOST_CELLS = 10_000
NAME = "sweep.json"
HERE = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
EXTRAS = {"hydra_submitit_launcher": "slurm", "hydra_ray_launcher": "ray"}


def cells_of(config: DictConfig, config_loader: object = None) -> list[list[str]]:
    """Returns the overrides of every job that Hydra's basic sweeper will start, in its order.

    `config` includes Hydra's node `hydra`. Overrides of the command line replace those of
    `hydra.sweeper.params`. `config_loader` knows the choices that `glob` matches; without it,
    `glob` cannot be used. Raises ConfigError for more than `MOST_CELLS` cells, and for an override
    without a list of values.
    """
    params = config.hydra.sweeper.get("params") or {}
    overrides = [*(f"{key}={value}" for key, value in params.items()), *config.hydra.overrides.task]
    choices: dict[str, list[str]] = {}
    for text in overrides:
        override = read_override(text, config_loader)
        values = values_of(override, MOST_CELLS + 1) if override.is_sweep_override() else [text]
        choices[override.get_key_element()] = values
    if math.prod(map(len, choices.values())) > MOST_CELLS:
        raise ConfigError(f"This sweep has more than {MOST_CELLS:,} cells; request fewer values.")
    return [list(cell) for cell in itertools.product(*choices.values())]


class _Sweep(TypedDict):
    cells: dict[str, int]
    compare: NotRequired[Any]
    began: NotRequired[str]


_SWEEP = pydantic.TypeAdapter(_Sweep)


def write_sweep(cells: Iterable[CellConfig]) -> None:
    """Writes sweep.json. A cell that is requested twice gets the larger number of episodes. Raises
    RecordFault if the file cannot be written."""
    by_folder = grouped((config.folder.parent, config) for config in cells)
    for folder, its_cells in by_folder.items():
        episodes: dict[str, int] = defaultdict(int)
        for config in its_cells:
            asked = len(config.settings.games) * config.settings.trials
            episodes[config.cell] = max(asked, episodes[config.cell])
        sweep = _Sweep(cells=episodes, compare=its_cells[0].tree.get("compare"), began=now())
        with recording(folder / NAME):
            folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / NAME, sweep)


def read_sweeps(folder: Path) -> dict[Path, int]:
    """Returns each cell's folder and number of episodes, from all sweeps at or below a folder.

    Raises ConfigError for a sweep.json that cannot be read.
    """
    planned: dict[Path, int] = {}
    for path in sorted(folder.rglob(NAME)):
        planned |= {path.parent / cell: count for cell, count in _read(path)["cells"].items()}
    return planned


def read_compare(folder: Path) -> tuple[str, Any]:
    """Returns when the sweep of this folder began, and its `compare`; without a sweep, "" and None.

    Raises ConfigError for a sweep.json that cannot be read.
    """
    sweep = _read(folder / NAME) if (folder / NAME).exists() else _Sweep(cells={})
    return sweep.get("began", ""), sweep.get("compare")


def _read(path: Path) -> _Sweep:
    try:
        return _SWEEP.validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        first = " ".join(str(error).split())
        raise ConfigError(f"{path} is no valid {NAME} ({first:.300}); move it away") from error


def check_launcher(target: str) -> None:
    """Raises MissingPart if this launcher (a class's full name) is not installed or cannot work on
    this machine."""
    module, _, name = target.rpartition(".")
    try:
        importlib.import_module(module)
    except ImportError as error:
        extra = next((extra for package, extra in EXTRAS.items() if package in module), None)
        remedy = f"the extra {extra}: pip install 'pddlego_local[{extra}]'" if extra else module
        raise MissingPart(
            f"hydra/launcher: {name} is not installed here. It needs {remedy}"
        ) from error
    if name == "SlurmLauncher" and shutil.which("srun") is None:
        raise MissingPart(
            "hydra/launcher: srun is not installed here, so no job can be sent to Slurm; run the "
            "command on a login node of the cluster"
        )


def go_to(folder: str) -> None:
    """Changes this process to the folder of the command. Raises ConfigError if it is missing."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise ConfigError(
            f"{socket.gethostname()} does not see {folder}, from which the sweep was started: a "
            "sweep on several machines needs that folder on a file system that all of them see"
        ) from error
