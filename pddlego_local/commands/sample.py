"""`pddlego sample`: what a model writes for one observation, as JSON lines, each written as soon as
it is complete."""

import argparse
import contextlib
import dataclasses
import json
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

from rich.console import Console
from rich.progress import Progress

from pddlego_local.commands.shared.options import count
from pddlego_local.commands.shared.sampling import first_question, sampler
from pddlego_local.commands.shared.training_warnings import training_warnings
from pddlego_local.core.visible import visible
from pddlego_local.decoding.question import Model
from pddlego_local.runner.config import compose_cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("overrides", nargs="*", help="Hydra overrides, such as model=random")
    add("-n", type=count(100_000), default=10, help="how many (default 10)")
    add("--prompt", action="store_true", help="print what the model would be asked, and stop")


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes each answer in any order, with its id."""
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
        _pool(config.settings.run.concurrency) as pool,
        Progress(console=Console(stderr=True)) as progress,
    ):
        draw_one, ascii_only = sampler(config, model, first_question(config)), sys.stdout.isatty()
        futures = [pool.submit(draw_one, number) for number in range(arguments.n)]
        for future in progress.track(as_completed(futures), len(futures), description="answers"):
            row = {**dataclasses.asdict(future.result()), **asked}
            print(json.dumps(row, ensure_ascii=ascii_only), flush=True)
    return 0


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that are not waited for here: the model is closed first, which ends their answers."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM, which ends a batch job, acts as Ctrl-C: servers end, the exit code is the same."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
