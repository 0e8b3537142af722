"""`pddlego demo`: ten games end to end, and what a grammar does to a model of random weights."""

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pddlego_local.commands.sample import samples
from pddlego_local.config import compose_cell
from pddlego_local.decoding.question import Model
from pddlego_local.models.opened import MODELS
from pddlego_local.pool import CellResult
from pddlego_local.report.cells import find_cells
from pddlego_local.report.numbers import report_numbers
from pddlego_local.report.text import on_screen
from pddlego_local.run import run_cell

HELP = "ten games, and what a grammar does"
SAMPLES = 10
SAMPLE_TOKENS = 3000
SAMPLE_RUNGS = ("free", "syntax", "grounded")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="", help="hub name or folder of an open-weight model")
    parser.add_argument("--thinking", action="store_true", help="for models that always think")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="where records go")


def carry_out(arguments: argparse.Namespace) -> int:
    console = Console(highlight=False)
    common = ["experiment=demo", f"run.out={arguments.out}"]
    if arguments.model:
        console.rule(f"PDDLego+ with {arguments.model}, under the grammar and without it")
        model = ["model=transformers", f"model.weights={arguments.model}", "run.concurrency=1"]
        model.append(f"decoding.reason={'think' if arguments.thinking else 'none'}")
        results = [_play([*common, *model, f"decoding={rung}"]) for rung in ("syntax", "free")]
    else:
        console.rule("PDDLego+ with the rule-based reference formalizer, not a language model")
        results = [_play([*common, "model=reference"])]
    MODELS.close()
    _show_games(console, results)
    if not arguments.model:
        console.rule(f"What the grammar does: {SAMPLES} answers of a model with random weights")
        _show_grammar(console)
    for fault in (fault for result in results for fault in result.faults):
        console.print(f"[red]infrastructure fault:[/] {fault}")
    return 3 if any(result.faults for result in results) else 0


def _play(overrides: Sequence[str]) -> CellResult:
    return run_cell(compose_cell(overrides))


def _show_games(console: Console, results: list[CellResult]) -> None:
    cells = find_cells(result.folder for result in results)
    console.print(on_screen(report_numbers(cells)))
    for cell in cells:
        console.print(f"transcripts: {cell.folder / 'transcripts'}", soft_wrap=True)
    first = cells[0]
    episode = f"{first.rows[0].game}-{first.rows[0].trial}" if first.rows else "GAME"
    console.print(f"to read one: {sys.argv[0]} show {first.folder} {episode}\n", soft_wrap=True)


def _show_grammar(console: Console) -> None:
    """The same prompt, weights and seeds on three rungs of the ladder."""
    table = Table("decoding", "answers", "parse", "planner's translator accepts", "plan", "cut")
    shown = ""
    cells = {
        rung: compose_cell(
            ["model=random", f"decoding={rung}", f"decoding.max_tokens={SAMPLE_TOKENS}"]
        )
        for rung in SAMPLE_RUNGS
    }
    model: Model = cells["free"].build("model")
    with contextlib.closing(model), contextlib.closing(cells["free"].build("planner")) as planner:
        for rung, cell in cells.items():
            drawn = samples(cell, model, SAMPLES)
            pairs = [pair for pair in drawn if not pair["fault"]]
            outcomes = Counter(planner.plan(p["domain"], p["problem"]).outcome for p in pairs)
            accepted = sum(outcomes.values()) - outcomes["translate_error"]
            cut = sum(pair["fault"] == "truncated" for pair in drawn)
            counts = (len(drawn), len(pairs), accepted, outcomes["solved"], cut)
            table.add_row(rung, *map(str, counts))
            if pairs:
                shortest = min(pairs, key=lambda pair: len(pair["text"]))
                shown = f"{shortest['domain']}\n{shortest['problem']}"
    console.print(table)
    if shown:
        console.print("The shortest answer on the last rung: right in form, nonsense in content.")
        console.print(shown, markup=False)
