"""`pddlego sample`: draws answers of a model to a game's first question, each with its
own seed.

The command prints each answer as a JSON line as soon as it is complete.
"""

import argparse
import contextlib
import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict

from rich.progress import Progress

from pddlego_local.api.cell_warnings import cell_warnings
from pddlego_local.api.sample import first_question, model_of, sampler
from pddlego_local.commands.shared.options import count
from pddlego_local.core.console import literal_console
from pddlego_local.core.visible import visible
from pddlego_local.runner.config import CellConfig, compose_cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "overrides", nargs="*", help="Hydra overrides, such as model=random"
    )
    parser.add_argument(
        "-n", type=count(100_000), default=10, help="the number of answers (default 10)"
    )
    parser.add_argument(
        "-cd",
        "--config-dir",
        metavar="DIR",
        help="a folder with configurations of your own",
    )
    parser.add_argument(
        "--prompt", action="store_true", help="print the prompt and stop"
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes the answers, with their ids, in the order in which they complete."""
    config = compose_cell(arguments.overrides, arguments.config_dir)
    if arguments.prompt:
        for message in first_question(config).messages:
            print(f"{message.role}:\n{visible(message.content)}\n")
        return 0
    config.check(games=config.settings.games[:1])
    for warning in cell_warnings([config]):
        print(f"warning: {warning}", file=sys.stderr)
    # SIGTERM, which ends a batch job, acts as Ctrl-C: servers are stopped, and the exit
    # code is the same.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _print_answers(config, arguments.n)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _print_answers(config: CellConfig, number: int) -> None:
    cell = {"cell": config.cell, "game": config.settings.games[0]}
    ascii_only = sys.stdout.isatty()
    with contextlib.ExitStack() as stack:
        # The pool ends first. Then the model is closed, which unblocks threads.
        model = stack.enter_context(model_of(config))
        pool = ThreadPoolExecutor(config.settings.run.concurrency)
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        progress = stack.enter_context(Progress(console=literal_console(stderr=True)))
        sample = sampler(config, model, first_question(config))
        futures = [pool.submit(sample, id_) for id_ in range(number)]
        completed = as_completed(futures)
        for future in progress.track(completed, number, description="answers"):
            line = {**asdict(future.result()), **cell}
            print(json.dumps(line, ensure_ascii=ascii_only), flush=True)
