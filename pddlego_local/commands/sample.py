"""`pddlego sample`: what a model writes for one observation, as JSON lines."""

import argparse
import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pddlego_local.commands.pairs import write_lines
from pddlego_local.config import CellConfig, compose_cell
from pddlego_local.core import Completion, Grammar, Model, Prompt, Sampling
from pddlego_local.decoding import Decoding
from pddlego_local.decoding.answer import read
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.rungs import grammar_for
from pddlego_local.episode import Episode, Parts
from pddlego_local.errors import ConfigError
from pddlego_local.models.opened import preflight
from pddlego_local.seeds import derive_seed

HELP = "PDDL pairs that a model writes for one observation, as JSON lines"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", help="Hydra overrides, such as model=random")
    parser.add_argument("-n", type=int, default=10, help="how many (default 10)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write JSON lines there")


def carry_out(given: argparse.Namespace) -> int:
    config = compose_cell(given.overrides)
    config.check()
    model = preflight(config, config.build("model"))
    with contextlib.closing(model):
        write_lines(samples(config, model, given.n), given.out)
    return 0


def samples(config: CellConfig, model: Model, count: int) -> Iterator[dict[str, Any]]:
    """`count` answers to the prompt of the first game's first look, each with a seed of its own."""
    decoding: Decoding = config.build("decoding")
    if PDDL not in config.build("method").forms:
        raise ConfigError(f"method={config.labels['method']} asks for no domain and problem")
    prompt = first_prompt(config)
    grammar = grammar_for(decoding.rung)

    def draw(number: int) -> tuple[int, Completion]:
        seed = derive_seed(config.settings.seed, "sample", number)
        return number, model.complete(prompt, grammar, decoding.sampling(seed))

    with ThreadPoolExecutor(config.settings.run.concurrency) as pool:
        for number, completion in pool.map(draw, range(count)):
            answer = read(completion, PDDL, decoding.rung)
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


def first_prompt(config: CellConfig) -> Prompt:
    """What the configured method asks first in the configured environment's first game."""
    environment, method = config.build("environment"), config.build("method")
    with contextlib.closing(environment):
        parts = Parts(environment, _Listener(), config.build("planner"), config.build("decoding"))
        try:
            method(Episode(parts, _ignore, run_seed=0, game=config.settings.games[0], trial=0))
        except _Asked as asked:
            return asked.prompt
    raise ConfigError(
        f"games={config.settings.games[0]}: this game is over before a model is asked"
    )


class _Asked(Exception):
    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt


class _Listener:
    """Stands where the model stands, to hear what a method asks."""

    decodes = False

    def preflight(self, *, thinking: bool = False) -> None: ...

    def identity(self) -> dict[str, str]:
        return {}

    def complete(self, prompt: Prompt, grammar: Grammar | None, sampling: Sampling) -> Completion:
        raise _Asked(prompt)

    def close(self) -> None: ...


def _ignore(event: str, **facts: object) -> None: ...
