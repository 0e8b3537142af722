"""`pddlego sample`: what a model writes for one observation, as JSON lines.

Each is written as soon as it is complete; a file of them is continued.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

from rich.console import Console
from rich.progress import Progress

from pddlego_local.commands.shared.options import count, told_as
from pddlego_local.commands.shared.sampling import first_question, sampler
from pddlego_local.commands.shared.training_warnings import training_warnings
from pddlego_local.core.errors import ConfigError, RecordFault
from pddlego_local.core.visible import visible
from pddlego_local.decoding.question import Model
from pddlego_local.runner.config import compose_cell

HELP = "PDDL pairs that a model writes for one observation, as JSON lines"

S = TypeVar("S")
T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, file = parser.add_argument, "add JSON lines there; the same again continues"
    add("overrides", nargs="*", help="Hydra overrides, such as model=random")
    add("-n", type=count(1_000_000), default=10, help="how many (default 10)")
    add("--prompt", action="store_true", help="print what the model would be asked, and stop")
    add("--out", type=Path, metavar="FILE", help=file)


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
        _answers(arguments.out, asked) as (ids, file),
        Progress(console=Console(stderr=True)) as progress,
    ):
        missing = [number for number in range(arguments.n) if number not in ids]
        bar = progress.add_task("answers", total=arguments.n, completed=arguments.n - len(missing))
        if missing:
            draw_one = sampler(config, model, first_question(config))
            for answer in as_completed(draw_one, missing, config.settings.run.concurrency):
                _write({**dataclasses.asdict(answer), **asked}, file, arguments.out)
                progress.advance(bar)
    return 0


def as_completed(work: Callable[[S], T], things: Iterable[S], workers: int) -> Iterator[T]:
    """`work` of each by so many threads, as it ends. Raises the error of the first that failed."""
    pool, left = ThreadPoolExecutor(workers), iter(things)
    pending = {pool.submit(work, thing) for thing in islice(left, workers + 1)}
    try:
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
            pending |= {pool.submit(work, thing) for thing in islice(left, len(done))}
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


@contextlib.contextmanager
def _answers(
    out: Path | None, asked: Mapping[str, object]
) -> Iterator[tuple[frozenset[int], IO[str]]]:
    """The ids of the answers that `out` has already, and the file, open to add others; None: to
    standard output. `asked` is what each line must say: answers to different questions never mix.

    Raises RecordFault for a file that cannot be written, ConfigError if it is of something else.
    """
    if out is None:
        yield frozenset(), sys.stdout
        return
    with told_as(RecordFault, f"--out {out}"):
        ids, file = _ids(out, asked), out.open("a", encoding="utf-8")
    with file:
        yield ids, file


def _ids(out: Path, asked: Mapping[str, object]) -> frozenset[int]:
    """The ids of the whole lines; a torn last line is cut off, and its answer drawn again."""
    if not out.is_file():  # none yet, or a pipe
        return frozenset()
    ids = set()
    lines = out.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines[:-1], start=1):
        where = f"--out {out} line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{where} is not JSON: {error}; name a new file") from error
        if not isinstance(row, dict) or not isinstance(row.get("id"), int):
            raise ConfigError(f"{where} is no answer of `pddlego sample`; name a new file")
        for key, value in asked.items():
            if row.get(key) != value:
                differs = f"{where} has {key} {row.get(key)} and not {value}"
                raise ConfigError(f"{differs}; name a new file")
        ids.add(row["id"])
    os.truncate(out, out.read_bytes().rfind(b"\n") + 1)
    return frozenset(ids)


def _write(row: Mapping[str, Any], file: IO[str], out: Path | None) -> None:
    """Raises RecordFault if there is no room."""
    try:
        print(json.dumps(row, ensure_ascii=file.isatty()), file=file, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RecordFault(f"cannot write {out}: {error.strerror}") from error
