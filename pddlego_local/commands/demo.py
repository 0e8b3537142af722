"""`pddlego demo`: a small language model plays the same games freely and under a grammar."""

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pddlego_local.commands.sample import samples
from pddlego_local.config import compose_cell
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import Model
from pddlego_local.events import Plan
from pddlego_local.models.opened import MODELS
from pddlego_local.models.weights import shipped
from pddlego_local.record import read_events, transcript_of
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.comparisons import comparisons
from pddlego_local.report.numbers import report_numbers
from pddlego_local.report.text import on_screen
from pddlego_local.report.verdicts import verdict
from pddlego_local.run import run_cell
from pddlego_local.visible import visible

HELP = "a small language model plays, freely and under a grammar"
OURS = "nano_early"
RUNGS = ("free", "grounded")
SAMPLE_TOKENS = 3000
SAMPLE_RUNGS = ("free", "syntax", "grounded")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default="",
        help="hub name or folder of an open-weight model; reference: rules, no language model",
    )
    parser.add_argument("--games", default="", help="their seeds, such as 0-49: more tell more")
    parser.add_argument(
        "--samples", type=int, default=10, help="answers of random weights that are shown, 0: none"
    )
    parser.add_argument("--thinking", action="store_true", help="for models that always think")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="where records go")


def carry_out(arguments: argparse.Namespace) -> int:
    console = Console(highlight=False)
    title, arms = _arms(arguments.model, thinking=arguments.thinking)
    console.rule(title)
    common = ["experiment=demo", f"run.out={arguments.out}"]
    common += [f"games='{arguments.games}'"] * bool(arguments.games)
    results = [run_cell(compose_cell([*common, *arm])) for arm in arms]
    MODELS.close()
    _show_games(console, find_cells(result.folder for result in results))
    if arguments.samples and not arguments.model:
        title = f"What the grammar does: {arguments.samples} answers of a model with random weights"
        console.rule(title)
        _show_grammar(console, arguments.samples)
    for fault in (fault for result in results for fault in result.faults):
        console.print(f"[red]infrastructure fault:[/] {escape(visible(fault))}")
    return 3 if any(result.faults for result in results) else 0


def _arms(model: str, *, thinking: bool) -> tuple[str, list[list[str]]]:
    """A title, and the overrides of each cell."""
    if model == "reference":
        rules = "PDDLego+ with the rule-based reference formalizer, not a language model"
        return rules, [["model=reference"]]
    ours = model or OURS
    if shipped(ours):
        arm = [f"model={ours}", "method.variant=compact"]
        arm += ["decoding.temperature=0", "decoding.max_tokens=1024", "run.concurrency=2"]
        title = f"PDDLego+ with {ours}, a language model of our own, freely and under a grammar"
    else:
        arm = ["model=transformers", f"model.weights={ours}", "run.concurrency=1"]
        arm.append(f"decoding.reason={'think' if thinking else 'none'}")
        title = f"PDDLego+ with {ours}, freely and under the grammar"
    return title, [[*arm, f"decoding={rung}"] for rung in RUNGS]


def _show_games(console: Console, cells: Sequence[CellRecord]) -> None:
    console.print(on_screen(report_numbers(cells)))
    for found in comparisons(cells):
        console.print(f"{found.base.value} → {found.other.value}: {verdict(found)}")
    for cell in cells:
        console.print(f"transcripts: {cell.folder / 'transcripts'}", soft_wrap=True)
    last = cells[-1]
    episode = "GAME"
    if won := [row for row in last.rows if row.success and row.calls] or last.rows:
        transcript = transcript_of(last.folder, won[0].game, won[0].trial)
        episode = transcript.stem
        _show_map(console, transcript)
    console.print(f"to read it: {sys.argv[0]} show {last.folder} {episode}\n", soft_wrap=True)


def _show_map(console: Console, transcript: Path) -> None:
    """The last problem file of a game that a plan was found for, and the plan."""
    planned = [event for event in read_events(transcript) if isinstance(event, Plan) and event.plan]
    if planned:
        console.print(f"\nGame {transcript.stem}, the house as the model wrote it down last:")
        problem = visible(Printer("lines").file(planned[-1].problem))
        console.print(problem, markup=False, soft_wrap=True)
        way = visible(" ".join(planned[-1].plan))
        console.print(
            f"and the way that the planner found in it: {way}", markup=False, soft_wrap=True
        )


def _show_grammar(console: Console, answers: int) -> None:
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
            drawn = samples(cell, model, answers)
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
        console.print(visible(shown), markup=False)
