"""A sweep: its cells, the files sweep-*.json beside them, and the jobs of a Slurm or
Ray launcher.

A sweep-*.json lists the cells of one command, the episodes that it requests of each,
and the comparisons for the report. It is written before the first cell begins, so that
a report can list all cells from the start. Its name has a hash of its content: the same
command replaces its own file, and commands that play other parts of the sweep, here or
on other machines, have other files. A sweep consists of what all of them requested.

A Slurm or Ray launcher starts one job for each cell. Two jobs never play the same cell:
the second one finds the lock in the cell's folder (`core.record.folder`).
"""

import hashlib
import importlib
import itertools
import json
import math
import os
import re
import shutil
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pydantic
from omegaconf import DictConfig
from typing_extensions import TypedDict

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.formats import now
from pddlego_local.core.grouping import grouped, grouped_by
from pddlego_local.core.record.folder import recording, write_json
from pddlego_local.core.record.rows import GameTrial
from pddlego_local.core.record.run_record import in_ranges, parse_games
from pddlego_local.core.visible import in_one_line
from pddlego_local.runner.config import CellConfig
from pddlego_local.runner.overrides import read_override, values_of

MOST_CELLS = 10_000
NAME = re.compile(r"sweep-[0-9a-f]{12}\.json")
HERE = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
EXTRAS = {"hydra_submitit_launcher": "slurm", "hydra_ray_launcher": "ray"}


def cells_of(config: DictConfig, config_loader: object = None) -> list[list[str]]:
    """Returns the overrides of every job that Hydra's basic sweeper will start, in its
    order.

    `config` includes Hydra's node `hydra`. Overrides of the command line replace those
    of `hydra.sweeper.params`. `config_loader` knows the choices that `glob` matches;
    without it, `glob` cannot be used. Raises ConfigError for more than `MOST_CELLS`
    cells, and for an override without a list of values.
    """
    params = config.hydra.sweeper.get("params") or {}
    overrides = [f"{key}={value}" for key, value in params.items()]
    overrides += config.hydra.overrides.task
    choices = dict[str, list[str]]()
    for text in overrides:
        override = read_override(text, config_loader)
        values = [text]
        if override.is_sweep_override():
            values = values_of(override, MOST_CELLS + 1)
        choices[override.get_key_element()] = values
    cells = math.prod(len(values) for values in choices.values())
    if cells > MOST_CELLS:
        raise ConfigError(
            f"This sweep has more than {MOST_CELLS:,} cells; request fewer values."
        )
    return [list(cell) for cell in itertools.product(*choices.values())]


class _Request(TypedDict):
    games: str
    trials: int


class _Sweep(TypedDict):
    """`cells` has the requests for each cell."""

    cells: dict[str, list[_Request]]
    compare: Any
    began: str


_SWEEP = pydantic.TypeAdapter(_Sweep)

Episodes = set[GameTrial]


def _episodes_of(requests: Iterable[_Request]) -> Episodes:
    """Raises ValueError for games that cannot be read."""
    episodes = Episodes()
    for request in requests:
        games = parse_games(request["games"])
        trials = range(request["trials"])
        episodes.update(itertools.product(games, trials))
    return episodes


def write_sweep(cells: Iterable[CellConfig]) -> None:
    """Writes a sweep-*.json into each folder of cells. Raises RecordFault if that
    fails.
    """
    by_folder = grouped_by(cells, lambda config: config.folder.parent)
    for folder, its_cells in by_folder.items():
        requests = grouped((config.cell, _request(config)) for config in its_cells)
        compare = its_cells[0].tree.get("compare")
        content = {"cells": requests, "compare": compare}
        text = json.dumps(content, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        path = folder / f"sweep-{digest}.json"
        with recording(path):
            folder.mkdir(parents=True, exist_ok=True)
        write_json(path, {**content, "began": now()})


def _request(config: CellConfig) -> _Request:
    settings = config.settings
    return _Request(games=in_ranges(settings.games), trials=settings.trials)


def read_sweeps(folder: Path) -> dict[Path, Episodes]:
    """Returns what was requested of each cell, from all sweeps at or below a folder.
    The keys are the resolved paths of the cells' folders.

    Raises ConfigError for a sweep-*.json that cannot be read.
    """
    return _planned(folder.rglob("sweep-*.json"))


def read_sweep(folder: Path) -> dict[Path, Episodes]:
    """Returns the same for the sweeps whose files are in the folder itself."""
    return _planned(_files(folder))


def _files(folder: Path) -> Iterator[Path]:
    return folder.glob("sweep-*.json")


def _planned(files: Iterable[Path]) -> dict[Path, Episodes]:
    planned: dict[Path, Episodes] = defaultdict(set)
    for path, sweep in _sweeps(sorted(files)):
        folder = path.parent.resolve()
        for cell, requests in sweep["cells"].items():
            planned[folder / cell] |= _episodes_of(requests)
    return dict(planned)


def _sweeps(files: Iterable[Path]) -> Iterator[tuple[Path, _Sweep]]:
    for path in files:
        if NAME.fullmatch(path.name):
            yield path, _read(path)


def read_compare(folder: Path) -> list[tuple[str, Any]]:
    """Returns when each sweep of this folder began, and its `compare`, in order of
    time.

    Raises ConfigError for a sweep-*.json that cannot be read.
    """
    # Two sweeps may begin within one second; their files tell which came last.
    files = sorted(_files(folder), key=lambda path: (path.stat().st_mtime_ns, path))
    sweeps = [sweep for _, sweep in _sweeps(files)]
    sweeps.sort(key=lambda sweep: sweep["began"])
    return [(sweep["began"], sweep["compare"]) for sweep in sweeps]


def _read(path: Path) -> _Sweep:
    try:
        sweep = _SWEEP.validate_json(path.read_bytes())
        for requests in sweep["cells"].values():
            _episodes_of(requests)
    except (OSError, ValueError) as error:
        words = in_one_line(error)
        raise ConfigError(
            f"{path} is not a valid sweep ({words:.300}); move it away"
        ) from error
    return sweep


def check_launcher(target: str) -> None:
    """Raises MissingPart if this launcher (a class's full name) is not installed or
    cannot work on this machine.
    """
    module, _, name = target.rpartition(".")
    try:
        importlib.import_module(module)
    except ImportError as error:
        remedy = module
        for package, extra in EXTRAS.items():
            if package in module:
                remedy = f"the extra {extra}: pip install 'pddlego_local[{extra}]'"
        raise MissingPart(
            f"hydra/launcher: {name} is not installed here. It needs {remedy}"
        ) from error
    if name == "SlurmLauncher" and shutil.which("srun") is None:
        raise MissingPart(
            "hydra/launcher: srun is not installed here, so no job can be sent to"
            " Slurm; run the command on a login node of the cluster"
        )


def go_to(folder: str) -> None:
    """Changes this process to the folder of the command. Raises ConfigError if it is
    missing.
    """
    try:
        os.chdir(folder)
    except OSError as error:
        raise ConfigError(
            f"{socket.gethostname()} does not see {folder}, from which the sweep was"
            " started: a sweep on several machines needs that folder on a file system"
            " that all of them see"
        ) from error
