"""`pddlego run` as Hydra sees it: one job per cell, and a look ahead over the whole sweep.

Single cells, sweeps (`-m`) and other launchers (submitit, Ray) are Hydra's; this file only says
what a job does, and refuses a sweep whose parts are missing before its first job begins. Under
Hydra's own launcher a job only hands in its cell, and all are played together when all are known;
under another one (`elsewhere`) a job plays, perhaps on another machine.
"""

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import CompactHydraException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console
from rich.logging import RichHandler
from rich.markup import escape

from pddlego_local.commands.shared import dry_run
from pddlego_local.commands.shared.run_end import tell_results
from pddlego_local.commands.shared.run_help import help_text
from pddlego_local.commands.shared.unlearned import what_they_never_learned
from pddlego_local.core.errors import CellHeld, PddlegoError
from pddlego_local.core.resources import folder
from pddlego_local.core.visible import visible
from pddlego_local.runner import launchers as elsewhere
from pddlego_local.runner.cell import folder_of
from pddlego_local.runner.config import CellConfig, compose_cell, quote_games
from pddlego_local.runner.pool import CellResult
from pddlego_local.runner.run import run_cells
from pddlego_local.runner.sweep_cells import cells_of
from pddlego_local.runner.sweep_record import read_sweeps, write_sweep

EVERY_CELL = "--dry-run=cells"
DRY_RUNS = ("--dry-run", EVERY_CELL)
_FULL_ERROR = "HYDRA_FULL_ERROR"
console = Console(stderr=True, highlight=False, soft_wrap=True)
_exit_code = 0
_handed_in: list[CellConfig] = []


def main(arguments: Sequence[str]) -> int:
    """Runs one cell or a sweep; 0 done, 2 bad configuration, 3 an infrastructure fault."""
    global _exit_code
    _exit_code = 0
    if {"--help", "-h"} & set(arguments):
        print(help_text())
        return 0
    dry = [word for word in arguments if word in DRY_RUNS]
    words = quote_games([word for word in arguments if word not in DRY_RUNS])
    _log_to_console()
    program = "pddlego" if {"-sc", "--shell-completion"} & set(words) else "pddlego run"
    sys.argv = [program, *_options_first(words)]
    Preflight.dry, Preflight.every_cell, Preflight.launched = bool(dry), EVERY_CELL in dry, []
    # Our configs of launchers have the plugins' names, and are checked against theirs on purpose.
    warnings.filterwarnings("ignore", r"\s*'hydra/launcher/\w+' is validated", UserWarning)
    try:
        with _errors_are_ours():
            hydra.main(version_base="1.3", config_path=str(folder("conf")), config_name="config")(
                _job
            )()
        if _handed_in:
            _play_all()
    except SystemExit as stop:
        if not Preflight.launched:
            return stop.code if isinstance(stop.code, int) and stop.code in (0, 3) else 2
    except CompactHydraException as error:  # a mistake in the command's words
        cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else ""
        console.print(f"{error}\n{cause}".strip(), markup=False)
        return 2
    except KeyboardInterrupt:
        if Preflight.launched:
            console.print("jobs that were launched go on: end them with their launcher's own tools")
        raise
    if told := elsewhere.what_is_missing(Preflight.launched):
        console.print(told, highlight=False)
        return 3
    return _exit_code


@contextlib.contextmanager
def _errors_are_ours() -> Iterator[None]:
    """Hydra raises what goes wrong, instead of a traceback of its own; that a launched job has died
    is told with what is missing then."""
    before = os.environ.get(_FULL_ERROR)
    os.environ[_FULL_ERROR] = "1"
    try:
        yield
    except Exception as error:
        if not Preflight.launched:
            raise
        console.print(f"a job has died: {error!r}", highlight=False, markup=False)
    finally:
        os.environ.pop(_FULL_ERROR)
        if before is not None:
            os.environ[_FULL_ERROR] = before


def _log_to_console() -> None:
    logging.basicConfig(
        format="%(message)s", handlers=[RichHandler(console=console, show_path=False)]
    )
    logging.getLogger("pddlego_local").setLevel(logging.INFO)


def _options_first(words: Sequence[str]) -> list[str]:
    """Hydra's parser wants its options before the overrides; people write them anywhere."""
    options, overrides = list[str](), list[str]()
    for word in words:
        takes_value = options[-1:] in (["--config-dir"], ["-cd"])
        (options if takes_value or word.startswith("-") else overrides).append(word)
    return options + overrides


def _job(cfg: DictConfig) -> None:
    """One cell: handed in where Hydra's own launcher plays all of them here, else played now."""
    hydra_config = HydraConfig.get()
    of_a_sweep = not OmegaConf.is_missing(hydra_config.job, "num")
    if of_a_sweep and hydra_config.launcher._target_ != elsewhere.HERE:
        _play_elsewhere(cfg, hydra_config)
        return
    try:
        _handed_in.append(CellConfig.of(cfg, hydra_config.runtime.choices))
    except PddlegoError as error:
        raise SystemExit(_tell(error)) from error


def _play_elsewhere(cfg: DictConfig, hydra_config: Any) -> None:
    """In a process of another launcher. Mistakes and faults are told in the job's log; to the
    command that launched it, what it did not play is missing."""
    _log_to_console()
    try:
        elsewhere.go_to(hydra_config.runtime.cwd)
        cell = CellConfig.of(cfg, hydra_config.runtime.choices)
        _play([cell], read_sweeps(folder_of(cell).parent))
    except PddlegoError as error:
        _tell(error)


def _play_all() -> None:
    """Plays the cells that were handed in. Raises SystemExit for what no cell survives."""
    cells = list(_handed_in)
    _handed_in.clear()
    try:
        _play(cells)
        tell_results(cells)
    except PddlegoError as error:
        raise SystemExit(_tell(error)) from error


def _play(cells: Sequence[CellConfig], sweep: Collection[Path] = ()) -> None:
    """Raises as `run_cells`."""
    for warning in what_they_never_learned(cells):
        console.print(f"[yellow]warning:[/] {escape(warning)}")
    results: list[CellResult] = []

    def told(result: CellResult) -> None:
        _tell_faults(result)
        results.append(result)

    run_cells(cells, told, console, sweep)
    if ended_early := [result for result in results if result.left]:
        left = sum(result.left for result in ended_early)
        console.print(
            f"{ended_early[-1].why}, {left} episodes are left: give the command again, with a "
            "higher limit if it counts what was played before"
        )


def _tell_faults(result: CellResult) -> None:
    """A cell's infrastructure faults let the others go on, and are told at its end."""
    global _exit_code
    if isinstance(result.refused, CellHeld):
        _exit_code = max(_exit_code, result.refused.exit_code)
        console.print(f"left out: {result.refused}", highlight=False, markup=False)
    elif result.refused:
        _exit_code = _tell(result.refused)
    for fault in result.faults:
        _exit_code = 3
        console.print(f"[bold red]infrastructure fault:[/] {escape(visible(fault))}")
    if result.faults:
        console.print(f"{len(result.faults)} episodes have no result yet: give the command again")


def _tell(error: PddlegoError) -> int:
    console.print(f"[bold red]error:[/] {escape(visible(str(error)))}")
    return error.exit_code


class Preflight(Callback):
    """Before the first job of a sweep: composes every cell and asks its parts what they lack.

    With `dry` no job begins: the cells are listed instead, and `every_cell` lists many too.
    `launched` are the cells whose jobs another launcher starts, on machines that ask themselves.
    """

    dry = every_cell = False
    launched: ClassVar[list[CellConfig]] = []

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        if self.dry:
            raise SystemExit(dry_run.show([list(config.hydra.overrides.task)], _tell, True))

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        try:
            asked = cells_of(config)
        except PddlegoError as error:
            raise SystemExit(_tell(error)) from error
        if self.dry:
            raise SystemExit(dry_run.show(asked, _tell, self.every_cell))
        errors: dict[str, PddlegoError] = {}
        checked: list[object] = []
        cells: list[CellConfig] = []
        launcher = config.hydra.launcher._target_
        for overrides in asked:
            try:
                cell = compose_cell(overrides)
                cells.append(cell)
                built = cell.check()
                if launcher != elsewhere.HERE:
                    continue
                built["environment"].preflight()
                thinking = built["decoding"].thinking
                model = (cell.tree["model"], thinking)
                if model not in checked:  # seeds and rungs ask nothing new of it
                    checked.append(model)
                    built["model"].preflight(thinking=thinking)
            except PddlegoError as error:
                errors.setdefault(str(error), error)
        if errors:
            raise SystemExit(max(_tell(error) for error in errors.values()))
        try:
            elsewhere.check_launcher(launcher)
            write_sweep(cells)
        except PddlegoError as error:
            raise SystemExit(_tell(error)) from error
        if launcher != elsewhere.HERE:
            Preflight.launched = cells
