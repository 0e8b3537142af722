"""A sweep whose jobs are started by another launcher than Hydra's own: elsewhere, by Slurm or Ray.

It starts one job for each cell. Two jobs that are asked for the same one do not meet: the second
finds the lock of the cell's folder (`core.record.lock`).
"""

import importlib
import os
import shutil
import socket

from pddlego_local.core.errors import ConfigError, MissingPart

HERE = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
EXTRAS = {"hydra_submitit_launcher": "slurm", "hydra_ray_launcher": "ray"}


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
