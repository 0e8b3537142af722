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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, shown = (
        parser.add_argument,
        "draw N answers of a model with random weights; 0: none",
    )
    model = (
        "hub name or folder of an open-weight model, or nano; reference: rules, no"
        " model"
    )
    add("--model", default="", help=model)
    add(
        "--games",
        default="",
        help="the games' seeds, such as 0-49; more games show more",
    )
    add("--samples", type=count(1_000, least=0), default=6, metavar="N", help=shown)
    add("--out", type=path, default=Path("runs"), help="the folder for records")


def carry_out(arguments: argparse.Namespace) -> int:
    console = screen()
    common = ["experiment=demo", f"run.out={arguments.out}"]
    common += [f"games='{arguments.games}'"] * bool(arguments.games)
    if arguments.model == "reference":
        title = (
            "PDDLego+ with the rule-based reference formalizer, not a language model"
        )
        cells = [[compose_cell([*common, "model=reference"])]]
    else:
        names = [arguments.model] if arguments.model else OURS
        title = f"PDDLego+ with {' and '.join(names)}, with and without a grammar"
        cells = [
            [compose_cell([*common, *_arm(name), f"decoding={rung}"]) for rung in RUNGS]
            for name in names
        ]
    console.rule(title)
    answers = 0 if arguments.model else arguments.samples
    # Each model keeps one core busy. The first plays in this process, which shows its
    # progress. The executor starts its process at the first call, so a single model
    # starts no second one.
    with ProcessPoolExecutor(1, get_context("spawn")) as other_process:
        others = [other_process.submit(_play, own, quiet=True) for own in cells[1:]]
        drawn = other_process.submit(_on_rungs, answers) if answers else None
        results = _play(cells[0], quiet=False)
        results += [result for other in others for result in other.result()]
        rows = drawn.result() if drawn else []
    _show_games(console, [find_cells([result.folder])[0] for result in results])
    if answers:
        console.rule(
            f"The grammar's effect on {answers} answers of a model with random weights"
        )
        table = Table(
            "decoding", "answers", "parse", "translator accepts", "plan", "cut"
        )
        for row in rows:
            table.add_row(*row)
        show(console, table)
    _show_what_next(console, results[-1].folder, title)
    faults = [fault for result in results for fault in result.faults]
    for fault in faults:
        console.print(styled("infrastructure fault:", "red", f" {visible(fault)}"))
    return 3 if faults else 0


def _play(cells: list[CellConfig], quiet: bool) -> list[CellResult]:
    with contextlib.closing(ModelStore()) as models:
        return [run_cell(cell, literal_console(quiet=quiet), models) for cell in cells]


def _arm(model: str) -> list[str]:
    if shipped(model):  # the settings that our models were trained with
        arm = [f"model={model}", "method.variant=compact", "run.concurrency=2"]
        return [*arm, "decoding.temperature=0", "decoding.max_tokens=1024"]
    return ["model=transformers", f"model.weights={model}", "run.concurrency=1"]


def _show_games(console: Console, cells: Sequence[CellRecord]) -> None:
    show(console, on_screen(report_numbers(cells)))
    for one in verdicts(compared(cells)):
        console.print(f"{one.title}: {one.text}", soft_wrap=True)
    last = cells[-1]
    if won := [row for row in last.rows if row.success and row.calls] or last.rows:
        _show_map(console, transcript_of(last.folder, won[0].game, won[0].trial))


def _show_what_next(console: Console, last: Path, title: str) -> None:
    report, program = shlex.quote(str(last.parent)), shlex.quote(sys.argv[0])
    puzzle = (
        f"`{program} formalize {PUZZLE} --model nano_described` turns words into PDDL, "
    )
    console.print(
        f"\nShown: the same houses, played by {title}.\nNext: `{program} report"
        f" {report} --open` shows every game step by step,"
        f" {puzzle if PUZZLE.is_file() else ''}`{program} show"
        f" {shlex.quote(str(last))}` lists these games, and `{program} run --help`"
        " explains how to play others.",
        soft_wrap=True,
    )


def _show_map(console: Console, transcript: Path) -> None:
    """Prints the last problem file of a game for which a plan was found, and the
    plan.
    """
    planned = [
        event
        for event in read_events(transcript)
        if isinstance(event, Plan) and event.plan
    ]
    if planned:
        console.print(
            f"\nGame {transcript.stem}, the model's last problem file that has a plan:"
        )
        problem, plan = (
            Printer("lines").file(planned[-1].problem),
            " ".join(planned[-1].plan),
        )
        shown = f"{problem}\nand the plan that the planner found for it: {plan}"
        console.print(visible(shown), soft_wrap=True)


def _on_rungs(answers: int) -> list[list[str]]:
    """Samples a model with random weights on each rung, with the same prompt and seeds.
    Returns a row of counts for each rung.
    """
    rows = []
    overrides = ["model=random", "decoding.max_tokens=3000"]
    cells = {
        rung: compose_cell([*overrides, f"decoding={rung}"]) for rung in SAMPLE_RUNGS
    }
    model: Model = cells["free"].build("model")
    with (
        contextlib.closing(model),
        contextlib.closing(cells["free"].build("planner")) as planner,
    ):
        for rung, cell in cells.items():
            drawn = samples(cell, model, first_question(cell), answers)
            pairs = [(one.domain, one.problem) for one in drawn if not one.fault]
            outcomes = Counter(planner.plan(*pair).outcome for pair in pairs)
            accepted = len(pairs) - outcomes["translate_error"]
            cut = sum(one.fault == "truncated" for one in drawn)
            numbers = (len(drawn), len(pairs), accepted, outcomes["solved"], cut)
            rows.append([rung, *map(str, numbers)])
    return rows
