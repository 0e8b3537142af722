"""`pddlego run`: plays one cell, or with -m a sweep.

Hydra composes the cells and supports launchers (submitit, Ray). Without a launcher,
this process plays all cells. With a launcher, each job plays one cell, possibly on
another machine.
"""

import argparse
import itertools
import shlex
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra._internal.hydra import Hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pddlego_local.api.cell_warnings import cell_warnings
from pddlego_local.commands.shared import dry_run
from pddlego_local.commands.shared.dry_run import AskedCell
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.console import literal_console, styled
from pddlego_local.core.errors import (
    CellHeld,
    ConfigError,
    InfrastructureError,
    PddlegoError,
)
from pddlego_local.core.resources import folder
from pddlego_local.core.secrets import (
    hidden,
    hidden_in_text,
    hidden_in_word,
    secrets_of,
)
from pddlego_local.core.visible import visible
from pddlego_local.decoding.settings import default_of, options
from pddlego_local.runner import sweep as sweeps
from pddlego_local.runner.cell import CellResult
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.config import CellConfig, compose_cell, hydra_for
from pddlego_local.runner.overrides import (
    CHOSEN,
    as_meant,
    as_override,
    choices_of,
    hold_back_options,
    known_options,
)
from pddlego_local.runner.run import asked_and_missing, run_cells

MOST_CELLS_SHOWN = 24  # about one screen; the report shows larger sweeps

console = literal_console(stderr=True, soft_wrap=True)


def main(arguments: Sequence[str]) -> int:
    """Returns 0 for success, 2 for a bad configuration, 3 for an infrastructure
    fault.
    """
    parser = _parser()
    options = parser.parse_intermixed_args(arguments)
    # Our launcher configs have the plugins' names, so Hydra validates them by the
    # plugins' schemas.
    warnings.filterwarnings(
        "ignore", r"\s*'hydra/launcher/\w+' is validated", UserWarning
    )
    try:
        with hydra_for(options.config_dir) as hydra:
            if options.help:
                parser.epilog = _choices_and_settings()
                parser.print_help()
                return 0
            words = as_meant(options.overrides)
            if options.cfg:
                return _show_configuration(hydra, words, options.cfg)
            words = hold_back_options(words)
            with clear_errors(""), known_options(words):
                sweep = hydra.compose_config("config", words, RunMode.MULTIRUN)
            is_sweep = options.multirun or sweep.hydra.mode == RunMode.MULTIRUN
            jobs = [words]
            if is_sweep:
                jobs = sweeps.cells_of(sweep, hydra.config_loader)
            if options.dry_run:
                return _dry_run(jobs)
            launcher = sweep.hydra.launcher._target_
            if launcher != sweeps.HERE and is_sweep:
                return _launch(hydra, launcher, words, jobs)
            return _play_here(jobs, is_sweep=is_sweep)
    except PddlegoError as error:
        return _print_error(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pddlego run",
        description=(
            "Plays one cell, or with -m one cell for every combination of"
            " comma-separated values. Rerun the command\nto continue: finished episodes"
            " are kept."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    add = parser.add_argument
    # Its text needs the folder that is given in --config-dir, perhaps after it.
    add("-h", "--help", action="store_true", help="show this help message and exit")
    add(
        "overrides",
        nargs="*",
        metavar="OPTION=VALUE",
        help="such as model=nano seed=0,1",
    )
    add("-m", "--multirun", action="store_true", help="play a sweep")
    add(
        "--dry-run",
        action="store_true",
        help="show the cells and what each model needs; play nothing",
    )
    add(
        "-cd",
        "--config-dir",
        metavar="DIR",
        help="a folder with configurations of your own",
    )
    add(
        "--cfg",
        choices=["job", "hydra", "all"],
        help="print the composed configuration",
    )
    return parser


def _choices_and_settings() -> str:
    """Returns the choices of each group, and conf/config.yaml's explanation of other
    settings. Hydra must be set up.
    """
    parts = [
        "Choices; the file of each choice in conf/ explains it and lists its options:\n"
    ]
    for group in CHOSEN:
        line = f"  {group}={', '.join(sorted(choices_of(group)))}"
        parts.append(textwrap.fill(line, 100, subsequent_indent="    "))
    parts.append("\nOptions of decoding, with their defaults:\n")
    for name, option in options().items():
        default = option.text(default_of(name, "typed"))
        line = f"  {name}={default}  # {option.about}"
        parts.append(textwrap.fill(line, 100, subsequent_indent="    "))
    settings = (folder("conf") / "config.yaml").read_text(encoding="utf-8")
    _, _, outside_groups = settings.partition("\nname:")
    outside_groups, _, _ = outside_groups.partition("\nhydra:")
    parts.append("\nSettings outside the groups (conf/config.yaml):\n\nname:")
    return "\n".join(parts) + outside_groups


def _show_configuration(hydra: Hydra, words: list[str], part: str) -> int:
    """Prints the composed configuration as YAML, without secrets. References to other
    values and to environment variables are shown as they are written.
    """
    with clear_errors(""), known_options(words):
        whole = hydra.compose_config(
            "config", words, RunMode.RUN, with_log_configuration=False
        )
    HydraConfig.instance().set_config(whole)
    OmegaConf.set_readonly(whole.hydra, None)
    shown = OmegaConf.to_container(hydra.get_sanitized_cfg(whole, part))
    without_secrets = hidden(shown, secrets_of(shown))
    print(OmegaConf.to_yaml(OmegaConf.create(without_secrets)), end="")
    return 0


def _play_here(jobs: Sequence[list[str]], *, is_sweep: bool) -> int:
    """Plays cells, after checking that no cell of a sweep lacks a part. A single cell
    tells what it lacks when it begins.
    """
    asked, code = _composed(jobs, here=is_sweep)
    if code:
        return code
    cells = [cell.config for cell in asked]
    if is_sweep:
        sweeps.write_sweep(cells)
    return _play_and_show(cells)


def _dry_run(jobs: Sequence[list[str]]) -> int:
    asked, code = _composed(jobs, here=False)
    if not code:
        dry_run.list_cells(asked)
    return code


def _refuse_secrets(jobs: Sequence[list[str]]) -> None:
    """Raises ConfigError for a secret in a word: a launcher writes its jobs' words to
    files.
    """
    for word in itertools.chain(*jobs):
        shown = hidden_in_word(word)
        if shown != word:
            raise ConfigError(
                f"{shown}: a launcher would write this secret to a file; put it into a"
                " variable of the environment and name that:"
                " model.server.api_key='${oc.env:NAME}'"
            )


def _composed(jobs: Sequence[list[str]], *, here: bool) -> tuple[list[AskedCell], int]:
    """Returns each distinct cell, whose parts can be built, and with `here` be used on
    this machine. Prints each distinct error, and returns the exit code.
    """
    cells: dict[str, AskedCell] = {}
    errors: dict[str, PddlegoError] = {}
    paths: dict[str, dict[str, str]] = {}
    models: list[object] = []
    for words in jobs:
        try:
            cell = compose_cell(words)
            _check_paths(paths.setdefault(cell.cell, cell.paths), cell.paths)
            content = f"{cell.cell} {cell.settings}"
            if content not in cells:
                parts = cell.check()
                if here:
                    _preflight(cell, parts, models)
                cells[content] = AskedCell(words, cell)
        except PddlegoError as error:
            errors.setdefault(str(error), error)
    return list(cells.values()), max(map(_print_error, errors.values()), default=0)


def _preflight(cell: CellConfig, parts: dict[str, Any], models: list[object]) -> None:
    """Checks a cell's parts on this machine. `models` are those that were checked for
    other cells: the check does not depend on the seed or the rung.
    """
    thinking = parts["decoding"].thinking
    model = (cell.tree["model"], thinking)
    parts["environment"].preflight()
    if model not in models:
        models.append(model)
        parts["model"].preflight(thinking=thinking)


def _check_paths(first: Mapping[str, str], second: Mapping[str, str]) -> None:
    """Raises ConfigError if two cells of one name differ in a folder's path."""
    for option, path in second.items():
        if Path(path).resolve() != Path(first[option]).resolve():
            raise ConfigError(
                f"{option}: {first[option]} and {path} would be the same cell, since a"
                " cell's name holds only the last part of a path; rename one of the"
                " folders"
            )


def _launch(
    hydra: Hydra, launcher: str, words: list[str], jobs: Sequence[list[str]]
) -> int:
    """Plays each cell as a job of a launcher; each job checks its own machine."""
    asked, code = _composed(jobs, here=False)
    if code:
        return code
    _refuse_secrets(jobs)
    sweeps.check_launcher(launcher)
    cells = [cell.config for cell in asked]
    sweeps.write_sweep(cells)
    # Hydra makes the jobs' folders below run.out, and does not know "~".
    words = [*words, as_override("run.out", str(cells[0].settings.run.out))]
    try:
        hydra.multirun("config", _play_job, words, with_log_configuration=False)
    except KeyboardInterrupt:
        console.print(
            "the launched jobs continue: end them with the tools of their launcher"
        )
        raise
    except Exception as error:
        console.print(hidden_in_text(f"a job has died: {error!r}"))
    _, left = asked_and_missing(cells)
    if left:
        console.print(
            f"{left} episodes of the sweep have no result: the jobs' logs say why"
            " (Slurm's are in .submitit beside the cells); rerun the command to"
            " continue"
        )
    return InfrastructureError.exit_code if left else 0


def _play_job(config: DictConfig) -> None:
    """Plays a cell in a launcher's process. Errors go to the job's log; the command
    that launched the job sees only which episodes are missing.
    """
    runtime: Any = HydraConfig.get().runtime
    try:
        sweeps.go_to(runtime.cwd)
        play([CellConfig.of(config, runtime.choices)])
    except PddlegoError as error:
        _print_error(error)


def _play_and_show(cells: Sequence[CellConfig]) -> int:
    """Plays the cells, then prints the table of `pddlego report` and the next
    command.
    """
    code = play(cells)
    from pddlego_local.report.cells import find_cells
    from pddlego_local.report.numbers import report_numbers
    from pddlego_local.report.text import on_screen

    folders = dict.fromkeys(cell.folder for cell in cells)
    begun = [path for path in folders if (path / "run.json").exists()]
    if begun:
        if len(begun) <= MOST_CELLS_SHOWN:
            show(screen(), on_screen(report_numbers(find_cells(begun))))
        what_next = f"pddlego report {shlex.quote(str(begun[0].parent))} --open"
        print(f"next: {what_next}   (tables, figures, and a page for every episode)")
    return code


def play(cells: Sequence[CellConfig]) -> int:
    """Returns the highest exit code of the cells. Raises the errors of `run_cells`."""
    for warning in cell_warnings(cells):
        console.print(styled("warning:", "yellow", f" {visible(warning)}"))
    results: list[CellResult] = []
    codes = [0]

    def ended(result: CellResult) -> None:
        results.append(result)
        codes.append(_print_faults(result))

    run_cells(cells, ended, console)
    reasons = dict.fromkeys(result.reason for result in results if result.left)
    if reasons:
        _, left = asked_and_missing(cells)
        console.print(
            f"{'; '.join(reasons)}, {left} episodes are left: rerun to continue"
        )
    return max(codes)


def _print_faults(result: CellResult) -> int:
    """Prints a cell's faults, which do not stop other cells, and returns its exit
    code.
    """
    code = 0
    if isinstance(result.refused, CellHeld):
        console.print(f"left out: {result.refused}")
        code = result.refused.exit_code
    elif result.refused:
        code = _print_error(result.refused)
    for fault in result.faults:
        shown = visible(hidden_in_text(fault))
        console.print(styled("infrastructure fault:", "bold red", f" {shown}"))
    if result.faults:
        console.print(
            f"{len(result.faults)} episodes have no result yet: rerun to try again"
        )
        code = InfrastructureError.exit_code
    return code


def _print_error(error: PddlegoError) -> int:
    shown = visible(hidden_in_text(str(error)))
    console.print(styled("error:", "bold red", f" {shown}"))
    return error.exit_code
