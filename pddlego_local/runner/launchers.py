"""A sweep whose jobs are started by another launcher than Hydra's own: elsewhere, by Slurm or Ray.

It starts one job for each cell. While its model is up, a job goes on with the sweep's other cells
of that model that nobody plays; the job of a cell that is done by then has nothing to do. Who plays
which cell is settled by the cells' folders, which all machines see (`core.record.lock`); nothing
else is shared.
"""

import importlib
import os
import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.runner.cell import folder_of
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.pool import missing
from pddlego_local.runner.sweep_record import read_models

HERE = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
EXTRAS = {"hydra_submitit_launcher": "slurm", "hydra_ray_launcher": "ray"}


@dataclass(frozen=True)
class Job:
    """What a job is to play, its own cell first, and the folders of all cells of its sweep."""

    cells: list[CellConfig]
    sweep: list[Path]


def check_launcher(target: str) -> None:
    """Raises MissingPart if this launcher, a class by its full name, is not installed here, or
    cannot work here."""
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
            "hydra/launcher: there is no srun here, so that no job can be sent to Slurm; give the "
            "command on a login node of the cluster"
        )


def go_to(folder: str) -> None:
    """Makes the folder of the command this process's own. Raises ConfigError if it is not here."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise ConfigError(
            f"{socket.gethostname()} does not see {folder}, from which the sweep was started: a "
            "sweep on several machines needs that folder on a file system that all of them see"
        ) from error


def job_of(own: CellConfig) -> Job:
    """What the job of this cell is to play. Raises ConfigError if its sweep has left no record."""
    sweep = folder_of(own).parent
    models = read_models(sweep)
    alone: dict[str, list[str]] = {own.cell: []}
    together = next((cells for cells in models if own.cell in cells), alone)
    names = list(together)
    at = names.index(own.cell)
    others = [compose_cell(together[name]) for name in (*names[at + 1 :], *names[:at])]
    return Job([own, *others], [sweep / cell for cells in models for cell in cells])


def what_is_missing(cells: Sequence[CellConfig]) -> str:
    """A sentence about the episodes that no job has played; "" if there are none."""
    left = missing(cells)
    if not left:
        return ""
    return (
        f"{left} episodes of the sweep have no result: the jobs' logs say why (of Slurm, in "
        ".submitit beside the cells); give the command again"
    )
