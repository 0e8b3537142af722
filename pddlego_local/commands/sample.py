"""`pddlego sample`: what a model writes for one observation, as JSON lines."""

import argparse
import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from pddlego_local.commands.shared.answer_file import answer_file
from pddlego_local.commands.shared.as_they_end import each_as_it_ends
from pddlego_local.commands.shared.counts import count
from pddlego_local.commands.shared.unlearned import what_they_never_learned
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.events import Event
from pddlego_local.core.seeds import derive_seed
from pddlego_local.core.visible import visible
from pddlego_local.decoding import Decoding
from pddlego_local.decoding.forms import PDDL, Keys
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import Model, Question
from pddlego_local.episode.asking import layout_of
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.reading.answer import read
from pddlego_local.models.scripted import Scripted
from pddlego_local.runner.config import CellConfig, compose_cell

HELP = "PDDL pairs that a model writes for one observation, as JSON lines"

Answered = dict[str, Any]
"""One line of the file: an answer, and the question that it answers."""


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
        _show_prompt(config)
        return 0
    for warning in what_they_never_learned([config]):
        print(f"warning: {warning}", file=sys.stderr)
    built = config.check()
    model: Model = built["model"]
    model.preflight(thinking=built["decoding"].thinking)
    with (
        _interruptible(),
        contextlib.closing(model),
        answer_file(arguments.out, **_question(config)) as file,
        Progress(console=Console(stderr=True)) as progress,
    ):
        missing = [number for number in range(arguments.n) if number not in file.ids]
        bar = progress.add_task("answers", total=arguments.n, completed=arguments.n - len(missing))

        def write(answer: Answered) -> None:
            file.write(answer)
            progress.advance(bar)

        if missing:
            draw_one = sampler(config, model)
            each_as_it_ends(draw_one, missing, config.settings.run.concurrency, write)
    return 0


def _show_prompt(config: CellConfig) -> None:
    for message in first_question(config).messages:
        print(f"{message.role}:\n{visible(message.content)}\n")


def samples(config: CellConfig, model: Model, count: int) -> list[Answered]:
    """`count` answers to the prompt of the first game's first observation, each by its own seed."""
    answers: list[Answered] = []
    draw_one = sampler(config, model)
    each_as_it_ends(draw_one, range(count), config.settings.run.concurrency, answers.append)
    return sorted(answers, key=lambda answer: answer["id"])


def sampler(config: CellConfig, model: Model) -> Callable[[int], Answered]:
    """Draws the answer of a number. Thread-safe.

    `text` is told where no domain and problem were read from it. Raises ConfigError if the method
    asks for no PDDL.
    """
    decoding: Decoding = config.build("decoding")
    if PDDL not in config.build("method").forms:
        raise ConfigError(f"method={config.labels['method']} asks for no domain and problem")
    question = first_question(config)
    constraint = constraint_for(decoding.rung, PDDL, question.scene, layout_of(model, decoding))

    def sample(number: int) -> Answered:
        sampling = decoding.sampling(derive_seed(config.settings.seed, "sample", number))
        (drawn,) = draw(model, question, constraint, sampling, decoding.stage_tokens)
        completion = drawn.completion
        answer = read(
            completion, PDDL, constraint, reading=decoding.reading, prompt=question.messages
        )
        return {
            "id": number,
            "domain": answer.value.df if answer.value else "",
            "problem": answer.value.pf if answer.value else "",
            "finish_reason": completion.finish_reason,
            "completion_tokens": completion.completion_tokens,
            "forced_tokens": completion.forced_tokens,
            "rung": decoding.rung,
            "fault": answer.fault,
            "text": completion.text if answer.fault else "",
            **_question(config),
        }

    return sample


def _question(config: CellConfig) -> dict[str, object]:
    return {"cell": config.cell, "game": config.settings.games[0]}


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM, which ends a batch job, acts as Ctrl-C: the servers end, the exit code is the same.

    The process then ends at once; else it would wait for an answer being drawn, or abort in it.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        atexit.register(os._exit, 130)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def first_question(config: CellConfig) -> Question[Keys]:
    """What the configured method asks first in the configured environment's first game."""
    environment, method = config.build("environment"), config.build("method")
    listener = Scripted([_Asked()])
    with contextlib.closing(environment):
        parts = Parts(environment, listener, config.build("planner"), config.build("decoding"))
        episode = Episode(parts, _ignore, run_seed=0, game=config.settings.games[0], trial=0)
        try:
            method(episode)
        except _Asked:
            return listener.asked[0]
    raise ConfigError(
        f"games={config.settings.games[0]}: this game is over before a model is asked"
    )


class _Asked(Exception):
    """Raised instead of an answer: only the first question is needed."""


def _ignore(event: Event) -> None: ...
