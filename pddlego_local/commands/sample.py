"""`pddlego sample`: what a model writes for one observation, as JSON lines."""

import argparse
import contextlib
import dataclasses
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from pddlego_local.commands.shared.answer_file import answer_file
from pddlego_local.commands.shared.counts import count
from pddlego_local.commands.shared.parallel import as_completed
from pddlego_local.commands.shared.sampling import first_question, sampler
from pddlego_local.commands.shared.training_warnings import training_warnings
from pddlego_local.core.visible import visible
from pddlego_local.decoding.question import Model
from pddlego_local.runner.config import compose_cell

HELP = "PDDL pairs that a model writes for one observation, as JSON lines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", help="Hydra overrides, such as model=random")
    parser.add_argument("-n", type=count(1_000_000), default=10, help="how many (default 10)")
    parser.add_argument(
        "--prompt", action="store_true", help="print what the model would be asked, and stop"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="add JSON lines there; the same again continues"
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes each answer as soon as it is complete, in any order, with its id."""
    config = compose_cell(arguments.overrides)
    if arguments.prompt:
        for message in first_question(config).messages:
            print(f"{message.role}:\n{visible(message.content)}\n")
        return 0
    for warning in training_warnings([config]):
        print(f"warning: {warning}", file=sys.stderr)
    built = config.check()
    model: Model = built["model"]
    model.preflight(thinking=built["decoding"].thinking)
    asked = {"cell": config.cell, "game": config.settings.games[0]}
    with (
        _interruptible(),
        contextlib.closing(model),
        answer_file(arguments.out, **asked) as (ids, write),
        Progress(console=Console(stderr=True)) as progress,
    ):
        missing = [number for number in range(arguments.n) if number not in ids]
        bar = progress.add_task("answers", total=arguments.n, completed=arguments.n - len(missing))
        if missing:
            draw_one = sampler(config, model, first_question(config))
            for answer in as_completed(draw_one, missing, config.settings.run.concurrency):
                write({**dataclasses.asdict(answer), **asked})
                progress.advance(bar)
    return 0


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM, which ends a batch job, acts as Ctrl-C: servers end, the exit code is the same."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
