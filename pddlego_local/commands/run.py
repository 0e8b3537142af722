"""`pddlego run` as Hydra sees it: one job per cell, and a look ahead over the whole sweep.

Single cells, sweeps (`-m`) and other launchers (submitit, Ray) are Hydra's; this file only says
what a job does, and refuses a sweep whose parts are missing before its first job begins.
"""

import itertools
import logging
import sys
from collections.abc import Sequence
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig
from rich.console import Console
from rich.logging import RichHandler
from rich.markup import escape

from pddlego_local.config import CellConfig, compose_cell
from pddlego_local.errors import (
    EnvironmentFault,
    GrammarIgnored,
    ModelFault,
    PddlegoError,
    PlannerFault,
)
from pddlego_local.models.opened import MODELS
from pddlego_local.resources import folder
from pddlego_local.run import run_cell

console = Console(stderr=True, highlight=False, soft_wrap=True)
_exit_code = 0


def main(arguments: Sequence[str]) -> int:
    """Runs one cell or a sweep; 0 done, 2 bad configuration, 3 an infrastructure fault."""
    flags = [word for word in arguments if word in ("-m", "--multirun")]  # wherever they stand
    logging.basicConfig(
        format="%(message)s", handlers=[RichHandler(console=console, show_path=False)]
    )
    logging.getLogger("pddlego_local").setLevel(logging.INFO)
    sys.argv = ["pddlego run", *flags, *(word for word in arguments if word not in flags)]
    try:
        hydra.main(version_base="1.3", config_path=str(folder("conf")), config_name="config")(
            _job
        )()
    except SystemExit as stop:
        return 3 if stop.code == 3 else 2  # Hydra itself leaves with 1 on a bad override
    finally:
        MODELS.close()
    return _exit_code


def _job(cfg: DictConfig) -> None:
    """One cell. Its infrastructure faults let the sweep go on; what no cell survives stops it."""
    global _exit_code
    try:
        result = run_cell(CellConfig.of(cfg, HydraConfig.get().runtime.choices), console)
    except (ModelFault, PlannerFault, EnvironmentFault) as error:
        if isinstance(error, GrammarIgnored):
            raise SystemExit(_tell(error)) from error
        _exit_code = _tell(error)
        return
    except PddlegoError as error:
        raise SystemExit(_tell(error)) from error
    for fault in result.faults:
        _exit_code = 3
        console.print(f"[bold red]infrastructure fault:[/] {escape(fault)}")
    if result.faults:
        console.print(f"{len(result.faults)} episodes have no result yet: give the command again")


def _tell(error: PddlegoError) -> int:
    console.print(f"[bold red]error:[/] {escape(str(error))}")
    return error.exit_code


class Preflight(Callback):
    """Before the first job of a sweep: composes every cell and asks its parts what they lack."""

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        errors: dict[str, PddlegoError] = {}
        asked: list[object] = []
        for overrides in _cells(config):
            try:
                cell = compose_cell(overrides)
                built = cell.check()
                built["environment"].preflight()
                thinking = built["decoding"].thinking
                model = (cell.tree["model"], thinking)
                if model not in asked:  # seeds and rungs ask nothing new of it
                    asked.append(model)
                    built["model"].preflight(thinking=thinking)
            except PddlegoError as error:
                errors.setdefault(str(error), error)
        if errors:
            raise SystemExit(max(_tell(error) for error in errors.values()))


def _cells(config: DictConfig) -> list[list[str]]:
    """The overrides of every job that Hydra's basic sweeper will start, in its order."""
    given = list(config.hydra.overrides.task)
    names = {override.split("=")[0] for override in given}
    params = config.hydra.sweeper.get("params") or {}
    given += [f"{key}={value}" for key, value in params.items() if key not in names]
    choices = []
    for override in OverridesParser.create().parse_overrides(given):
        if override.is_sweep_override():
            key = override.get_key_element()
            choices.append([f"{key}={value}" for value in override.sweep_string_iterator()])
        else:
            choices.append([override.input_line or ""])
    return [list(cell) for cell in itertools.product(*choices)]
