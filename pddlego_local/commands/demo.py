"""`pddlego demo`: small language models play the same games with and without a grammar,
and the terminal shows what they believe while they play.
"""

import argparse
import contextlib
import hashlib
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pddlego_local
from pddlego_local.commands.report import write_report
from pddlego_local.commands.shared.options import path
from pddlego_local.commands.shared.screen import screen
from pddlego_local.commands.shared.watch import Watch
from pddlego_local.core.console import literal_console, styled
from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.record.counting import counted
from pddlego_local.core.resources import folder
from pddlego_local.core.visible import visible
from pddlego_local.models.weights import shipped
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.verdicts import verdicts
from pddlego_local.runner.cell import CellResult, ModelStore
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.run import run_cell

OURS = ("nano_early", "nano")
PUZZLE = Path("examples/puzzle.txt")
RUNGS = ("free", "grounded")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--model",
        default="",
        help=(
            "hub name or folder of an open-weight model, or nano; reference: rules, no"
            " model"
        ),
    )
    add(
        "--games",
        default="",
        help="the games' seeds, such as 0-49; more games show more",
    )
    add("--out", type=path, default=Path("runs"), help="the folder for records")


def carry_out(arguments: argparse.Namespace) -> int:
    common = ["experiment=start/demo", f"name={_name()}", f"run.out={arguments.out}"]
    if arguments.games:
        common.append(f"games='{arguments.games}'")
    names = [arguments.model] if arguments.model else OURS
    models = [_cells(common, name) for name in names]
    cells = [cell for of_model in models for cell in of_model]
    console = screen()
    arms = {}
    for name, of_model in zip(names, models, strict=True):
        for cell in of_model:
            rung = f", {cell.tree['decoding']['rung']}" if len(of_model) > 1 else ""
            arms[f"{Path(name).name}{rung}"] = cell.folder
    with Watch(console, arms, games=len([*cells[0].episodes])):
        results = _play_all(models)
    page = write_report(cells[0].folder.parent)
    for line in _last_lines(find_cells([cell.folder for cell in cells]), page):
        console.print(visible(line), soft_wrap=True)
    faults = [fault for result in results for fault in result.faults]
    for fault in faults:
        console.print(styled("infrastructure fault:", "red", f" {visible(fault)}"))
    return 3 if faults else 0


def _name() -> str:
    """Returns the name of the run's folder, which is another one for each state of this
    program: a record is only continued by the program that began it, and a demo is
    always played.
    """
    digest = hashlib.sha256()
    for top in (Path(pddlego_local.__file__).parent, folder("conf")):
        for file in sorted(top.rglob("*")):
            if file.suffix in (".py", ".yaml", ".jinja", ".pddl", ".lark"):
                digest.update(file.read_bytes())
    return f"demo-{digest.hexdigest()[:8]}"


def _cells(common: list[str], model: str) -> list[CellConfig]:
    """Returns the cells of one model, with and without a grammar."""
    if model == "reference":
        return [compose_cell([*common, "model=reference"])]
    if shipped(model):  # with the settings of its training
        own = [f"model={model}", "method.variant=compact", "run.concurrency=2"]
        own += ["decoding.temperature=0", "decoding.max_tokens=1024"]
    else:
        own = ["model=transformers", f"model.weights={model}", "run.concurrency=1"]
    return [compose_cell([*common, *own, f"decoding={rung}"]) for rung in RUNGS]


def _play_all(models: Sequence[Sequence[CellConfig]]) -> list[CellResult]:
    """Plays the cells of each model. Each model keeps one core busy. The first plays in
    this process. The executor starts its process at the first call, so a single model
    starts no second one.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as other_process:
        others = [other_process.submit(_play, own) for own in models[1:]]
        results = _play(models[0])
        for other in others:
            results += other.result()
        return results


def _play(cells: Sequence[CellConfig]) -> list[CellResult]:
    with contextlib.closing(ModelStore()) as models:
        return [run_cell(cell, literal_console(quiet=True), models) for cell in cells]


def _last_lines(cells: Sequence[CellRecord], page: Path) -> list[str]:
    """Returns what the demo ends with, in six lines: what was played, who won, what
    this shows, which file to open, and what to type next.
    """
    program = shlex.quote(sys.argv[0])
    games = len({row.game for cell in cells for row in counted(cell.rows).counted})
    next_command = f"{program} run --help"
    if PUZZLE.is_file():
        next_command = f"{program} formalize {PUZZLE} --model nano_worlds"
    return [
        f"Played: {games} {'house' if games == 1 else 'houses'} of CoinCollector, by"
        " PDDLego+",
        *_won(cells),
        _shown(cells, games),
        f"Open: {shlex.quote(str(page))} (every game step by step)",
        f"Type: {next_command}",
    ]


def _won(cells: Sequence[CellRecord]) -> list[str]:
    """Returns two lines with the games won by each arm: a line for each model, or for
    each arm of a single one.
    """
    models = grouped_by(cells, lambda cell: cell.labels["model"])
    won = {
        model: [f"{arm.labels['decoding']} won {_games_won(arm)}" for arm in arms]
        for model, arms in models.items()
    }
    if len(won) > 1:
        return [f"{model}: {', '.join(arms)}" for model, arms in won.items()]
    if len(cells) > 1:
        return [f"{model}: {arm}" for model, arms in won.items() for arm in arms]
    (cell,) = cells
    model = cell.labels["model"]
    return [f"{model}: won {_games_won(cell)}", f"{model}: rules, no language model"]


def _games_won(cell: CellRecord) -> str:
    rows = counted(cell.rows).counted
    return f"{sum(row.success for row in rows)} of {len(rows)}"


def _shown(cells: Sequence[CellRecord], games: int) -> str:
    """Says what the games show, which is little if they are few."""
    found = verdicts(compared(cells))
    if all(verdict.word == "too few to tell" for verdict in found):
        played = "One game is" if games == 1 else f"{games} games are"
        return f"{played} too few to tell; --games 0-49 plays more"
    words = [f"{verdict.title}: {verdict.word}" for verdict in found]
    return f"Shown by {games} games: {'; '.join(words)}"
