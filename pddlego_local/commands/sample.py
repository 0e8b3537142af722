"""`pddlego sample`: what a model writes for one observation, as JSON lines."""

import argparse
import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pddlego_local.commands.pairs import write_lines
from pddlego_local.config import CellConfig, compose_cell
from pddlego_local.decoding import Decoding
from pddlego_local.decoding.answer import read
from pddlego_local.decoding.draw import draw
from pddlego_local.decoding.forms import PDDL, Keys
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import Drawn, Model, Question
from pddlego_local.episode import Episode, Parts
from pddlego_local.errors import ConfigError
from pddlego_local.events import Event
from pddlego_local.models.scripted import Scripted
from pddlego_local.seeds import derive_seed

HELP = "PDDL pairs that a model writes for one observation, as JSON lines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", help="Hydra overrides, such as model=random")
    parser.add_argument("-n", type=int, default=10, help="how many (default 10)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write JSON lines there")


def carry_out(given: argparse.Namespace) -> int:
    config = compose_cell(given.overrides)
    built = config.check()
    model: Model = built["model"]
    model.preflight(thinking=built["decoding"].thinking)
    with contextlib.closing(model):
        write_lines(samples(config, model, given.n), given.out)
    return 0


def samples(config: CellConfig, model: Model, count: int) -> Iterator[dict[str, Any]]:
    """`count` answers to the prompt of the first game's first look, each with a seed of its own."""
    decoding: Decoding = config.build("decoding")
    if PDDL not in config.build("method").forms:
        raise ConfigError(f"method={config.labels['method']} asks for no domain and problem")
    question = first_question(config)
    constraint = constraint_for(decoding.rung, PDDL, question.scene)

    def one(number: int) -> tuple[int, Drawn]:
        sampling = decoding.sampling(derive_seed(config.settings.seed, "sample", number))
        drawn = draw(model, question, constraint, sampling, decoding.stage_tokens)
        return number, drawn[0]

    with ThreadPoolExecutor(config.settings.run.concurrency) as pool:
        for number, drawn in pool.map(one, range(count)):
            completion = drawn.completion
            answer = read(completion, PDDL, constraint)
            yield {
                "id": number,
                "domain": answer.value.df if answer.value else "",
                "problem": answer.value.pf if answer.value else "",
                "finish_reason": completion.finish_reason,
                "completion_tokens": completion.completion_tokens,
                "rung": decoding.rung,
                "fault": answer.fault,
                "text": completion.text,
            }


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
    """Raised in a model's place: the first question is all that is wanted."""


def _ignore(event: Event) -> None: ...
