"""`pddlego demo`: small language models play the same games with and without a
grammar.
"""

import argparse
import contextlib
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from pddlego_local.api.sample import first_question, samples
from pddlego_local.commands.shared.options import count, path
from pddlego_local.commands.shared.screen import screen, show
from pddlego_local.core.console import literal_console, styled
from pddlego_local.core.record.events import Plan
from pddlego_local.core.record.folder import read_events, transcript_of
from pddlego_local.core.visible import visible
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import Model
from pddlego_local.models.weights import shipped
from pddlego_local.planner import FastDownward
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.numbers import report_numbers
from pddlego_local.report.text import on_screen
from pddlego_local.report.verdicts import verdicts
from pddlego_local.runner.cell import CellResult, ModelStore
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.run import run_cell

OURS = ("nano_early", "nano")
PUZZLE = Path("examples/puzzle.txt")
RUNGS = ("free", "grounded")
SAMPLE_RUNGS = ("free", "syntax", "grounded")


class _Drawn(NamedTuple):
    """How many of the answers on a rung can be read, are accepted by the translator,
    have a plan, and were cut.
    """

    rung: str
    answers: int
    parsed: int
    accepted: int
    solved: int
    cut: int


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
    add(
        "--samples",
        type=count(1_000, least=0),
        default=6,
        metavar="N",
        help="draw N answers of a model with random weights; 0: none",
    )
    add("--out", type=path, default=Path("runs"), help="the folder for records")


def carry_out(arguments: argparse.Namespace) -> int:
    common = ["experiment=start/demo", f"run.out={arguments.out}"]
    if arguments.games:
        common.append(f"games='{arguments.games}'")
    names = [arguments.model] if arguments.model else OURS
    title = f"PDDLego+ with {' and '.join(names)}, with and without a grammar"
    if arguments.model == "reference":
        title = (
            "PDDLego+ with the rule-based reference formalizer, not a language model"
        )
    cells = [_cells(common, name) for name in names]
    answers = 0 if arguments.model else arguments.samples
    console = screen()
    console.rule(title)
    results, rows = _play_all(cells, answers)
    _show_games(console, [find_cells([result.folder])[0] for result in results])
    if rows:
        console.rule(
            f"The grammar's effect on {answers} answers of a model with random weights"
        )
        table = Table(
            "decoding", "answers", "parse", "translator accepts", "plan", "cut"
        )
        for row in rows:
            table.add_row(*map(str, row))
        show(console, table)
    _show_what_next(console, results[-1].folder, title)
    faults = [fault for result in results for fault in result.faults]
    for fault in faults:
        console.print(styled("infrastructure fault:", "red", f" {visible(fault)}"))
    return 3 if faults else 0


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


def _play_all(
    cells: list[list[CellConfig]], answers: int
) -> tuple[list[CellResult], list[_Drawn]]:
    """Plays the cells of each model, and draws answers of a model with random weights.

    Each model keeps one core busy. The first plays in this process, which shows its
    progress. The executor starts its process at the first call, so a single model
    starts no second one.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as other_process:
        others = [other_process.submit(_play, own, quiet=True) for own in cells[1:]]
        drawn = other_process.submit(_rows, answers) if answers else None
        results = _play(cells[0], quiet=False)
        for other in others:
            results += other.result()
        return results, drawn.result() if drawn else []


def _play(cells: list[CellConfig], quiet: bool) -> list[CellResult]:
    with contextlib.closing(ModelStore()) as models:
        return [run_cell(cell, literal_console(quiet=quiet), models) for cell in cells]


def _show_games(console: Console, cells: Sequence[CellRecord]) -> None:
    show(console, on_screen(report_numbers(cells)))
    for verdict in verdicts(compared(cells)):
        console.print(f"{verdict.title}: {verdict.text}", soft_wrap=True)
    last = cells[-1]
    won = [row for row in last.rows if row.success and row.calls]
    if rows := won or last.rows:
        _show_map(console, transcript_of(last.folder, rows[0].game, rows[0].trial))


def _show_map(console: Console, transcript: Path) -> None:
    """Prints the last problem file of a game for which a plan was found, and the
    plan.
    """
    for event in reversed(read_events(transcript)):
        if isinstance(event, Plan) and event.plan:
            console.print(
                f"\nGame {transcript.stem}, the model's last problem file that has a"
                " plan:"
            )
            problem = Printer("lines").file(event.problem)
            plan = " ".join(event.plan)
            shown = f"{problem}\nand the plan that the planner found for it: {plan}"
            console.print(visible(shown), soft_wrap=True)
            return


def _show_what_next(console: Console, last: Path, title: str) -> None:
    program = shlex.quote(sys.argv[0])
    run = shlex.quote(str(last.parent))
    cell = shlex.quote(str(last))
    puzzle = ""
    if PUZZLE.is_file():
        command = f"{program} formalize {PUZZLE} --model nano_worlds"
        puzzle = f"`{command}` turns words into PDDL, "
    console.print(
        f"\nShown: the same houses, played by {title}."
        f"\nNext: `{program} report {run} --open` shows every game step by step,"
        f" {puzzle}`{program} show {cell}` lists these games, and"
        f" `{program} run --help` explains how to play others.",
        soft_wrap=True,
    )


def _rows(answers: int) -> list[_Drawn]:
    """Samples a model with random weights on each rung, with the same prompt and seeds.
    Returns a row of counts for each rung.
    """
    rows = []
    overrides = ["model=random", "decoding.max_tokens=3000"]
    model: Model = compose_cell(overrides).build("model")
    with contextlib.closing(model), FastDownward() as planner:
        for rung in SAMPLE_RUNGS:
            cell = compose_cell([*overrides, f"decoding={rung}"])
            drawn = samples(cell, model, first_question(cell), answers)
            parsed = [sample for sample in drawn if not sample.fault]
            outcomes = Counter[str]()
            for sample in parsed:
                outcomes[planner.plan(sample.domain, sample.problem).outcome] += 1
            row = _Drawn(
                rung=rung,
                answers=answers,
                parsed=len(parsed),
                accepted=len(parsed) - outcomes["translate_error"],
                solved=outcomes["solved"],
                cut=sum(sample.fault == "truncated" for sample in drawn),
            )
            rows.append(row)
    return rows
