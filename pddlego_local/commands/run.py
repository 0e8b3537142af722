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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hydra._internal.hydra import Hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pddlego_local.commands.shared import dry_run
from pddlego_local.commands.shared.name_warnings import name_warnings
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.commands.shared.training_warnings import training_warnings
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
from pddlego_local.runner.overrides import GROUPS, hold_back_options, known_options
from pddlego_local.runner.run import asked_and_missing, run_cells
from pddlego_local.runner.words import as_meant, as_override, quote_games

MOST_CELLS_SHOWN = 24  # about one screen; the report shows larger sweeps

T = TypeVar("T")
console = literal_console(stderr=True, soft_wrap=True)


def main(arguments: Sequence[str]) -> int:
    """Returns 0 for success, 2 for a bad configuration, 3 for an infrastructure
    fault.
    """
    options = _parser().parse_intermixed_args(arguments)
    # Our launcher configs have the plugins' names, so Hydra validates them by the
    # plugins' schemas.
    warnings.filterwarnings(
        "ignore", r"\s*'hydra/launcher/\w+' is validated", UserWarning
    )
    try:
        with hydra_for(options.config_dir) as hydra:
            with clear_errors(""):
                words = as_meant(quote_games(options.overrides), hydra.config_loader)
            if options.cfg:
                return _show_configuration(hydra, words, options.cfg)
            words = hold_back_options(words)
            with clear_errors(""), known_options(words):
                sweep = hydra.compose_config("config", words, RunMode.MULTIRUN)
            if options.multirun or sweep.hydra.mode == RunMode.MULTIRUN:
                return _play_sweep(hydra, words, sweep, options.dry_run)
            if options.dry_run:
                return _dry_run([words])
            cell = compose_cell(words)
            cell.check()
            return _play_and_show([cell])
    except PddlegoError as error:
        return _print_error(error)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="pddlego run",
        description=(
            "Plays one cell, or with -m one cell for every combination of"
            " comma-separated values. Rerun the command\nto continue: finished episodes"
            " are kept."
        ),
        epilog=_choices_and_settings(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add(
        "overrides",
        nargs="*",
        metavar="OPTION=VALUE",
        help="such as model=nano seed=0,1",
    )
    add("-m", "--multirun", action="store_true", help="play a sweep")
    dry = "show the cells, what each model needs, and the disk space; play nothing"
    add("--dry-run", action="store_true", help=dry)
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
    return made


def _choices_and_settings() -> str:
    """Returns the choices of each group, and conf/config.yaml's explanation of other
    settings.
    """
    parts = [
        "Choices; the file of each choice in conf/ explains it and lists its options:\n"
    ]
    for group in (*GROUPS, "arm", "experiment"):
        choices = ", ".join(
            sorted(path.stem for path in (folder("conf") / group).glob("*.yaml"))
        )
        parts.append(
            textwrap.fill(f"  {group}={choices}", 100, subsequent_indent="    ")
        )
    parts.append("\nOptions of decoding, with their defaults:\n")
    for name, option in options().items():
        default = option.text(default_of(name, "typed"))
        text = f"  {name}={default}  # {option.about}"
        parts.append(textwrap.fill(text, 100, subsequent_indent="    "))
    settings = (folder("conf") / "config.yaml").read_text(encoding="utf-8")
    settings = settings[settings.index("\nname:") : settings.index("\nhydra:")]
    return "\n".join(
        [*parts, "\nSettings outside the groups (conf/config.yaml):", settings]
    )


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
    print(OmegaConf.to_yaml(OmegaConf.create(hidden(shown, secrets_of(shown)))), end="")
    return 0


def _play_sweep(hydra: Hydra, words: list[str], sweep: DictConfig, dry: bool) -> int:
    """Plays or launches a sweep, after checking that no cell lacks a part."""
    asked = sweeps.cells_of(sweep, hydra.config_loader)
    if dry:
        return _dry_run(asked)
    launcher = sweep.hydra.launcher._target_
    here = launcher == sweeps.HERE
    cells, errors = _composed(asked, _preflight(here=here))
    if errors:
        return max(map(_print_error, errors))
    if not here:
        _refuse_secrets(asked)
    sweeps.check_launcher(launcher)
    sweeps.write_sweep(cells)
    return _play_and_show(cells) if here else _launch(hydra, words, cells)


def _refuse_secrets(asked: Sequence[list[str]]) -> None:
    """Raises ConfigError for a secret in a word: a launcher writes its jobs' words to
    files.
    """
    for word in itertools.chain(*asked):
        if (shown := hidden_in_word(word)) != word:
            raise ConfigError(
                f"{shown}: a launcher would write this secret to a file; put it into a"
                " variable of the environment and name that:"
                " model.server.api_key='${oc.env:NAME}'"
            )


def _composed(
    asked: Sequence[list[str]], inspect: Callable[[list[str], CellConfig], T]
) -> tuple[list[T], list[PddlegoError]]:
    """Returns `inspect`'s result for each distinct cell, and the distinct errors."""
    seen, errors = dict[str, T](), dict[str, PddlegoError]()
    paths = dict[str, dict[str, str]]()
    for overrides in asked:
        try:
            cell = compose_cell(overrides)
            _check_paths(paths.setdefault(cell.cell, cell.paths), cell.paths)
            if (content := f"{cell.cell} {cell.settings}") not in seen:
                seen[content] = inspect(overrides, cell)
        except PddlegoError as error:
            errors.setdefault(str(error), error)
    return list(seen.values()), list(errors.values())


def _check_paths(first: Mapping[str, str], second: Mapping[str, str]) -> None:
    """Raises ConfigError if two cells of one name differ in a folder's path."""
    for option, path in second.items():
        if Path(path).resolve() != Path(first[option]).resolve():
            raise ConfigError(
                f"{option}: {first[option]} and {path} would be the same cell, since a"
                " cell's name holds only the last part of a path; rename one of the"
                " folders"
            )


def _preflight(*, here: bool) -> Callable[[list[str], CellConfig], CellConfig]:
    """Returns a function that builds a cell's parts and with `here` checks them on this
    machine.
    """
    models: list[object] = []

    def inspect(overrides: list[str], cell: CellConfig) -> CellConfig:
        built = cell.check()
        thinking = built["decoding"].thinking
        model = (cell.tree["model"], thinking)
        if here:
            built["environment"].preflight()
            if model not in models:  # the check does not depend on seed or rung
                models.append(model)
                built["model"].preflight(thinking=thinking)
        return cell

    return inspect


def _dry_run(asked: Sequence[list[str]]) -> int:
    counted, errors = _composed(asked, dry_run.count)
    if errors:
        return max(map(_print_error, errors))
    return dry_run.list_cells(counted)


def _launch(hydra: Hydra, words: list[str], cells: Sequence[CellConfig]) -> int:
    """Plays each cell as a job of a launcher; each job checks its own machine."""
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
        _play([CellConfig.of(config, runtime.choices)])
    except PddlegoError as error:
        _print_error(error)


def _play_and_show(cells: Sequence[CellConfig]) -> int:
    """Plays the cells, then prints the table of `pddlego report` and the next
    command.
    """
    code = _play(cells)
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


def _play(cells: Sequence[CellConfig]) -> int:
    """Returns the highest exit code of the cells. Raises the errors of `run_cells`."""
    for warning in (*training_warnings(cells), *name_warnings(cells)):
        console.print(styled("warning:", "yellow", f" {visible(warning)}"))
    results, codes = list[CellResult](), [0]

    def ended(result: CellResult) -> None:
        results.append(result)
        codes.append(_print_faults(result))

    run_cells(cells, ended, console)
    if reasons := dict.fromkeys(result.reason for result in results if result.left):
        _, left = asked_and_missing(cells)
        why = "; ".join(reasons)
        console.print(
            f"{why}, {left} episodes are left: rerun to continue", markup=False
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
