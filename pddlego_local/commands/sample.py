"""`pddlego sample`: draws answers of a model to a game's first question, each with its
own seed.

The command prints each answer as a JSON line as soon as it is complete.
"""

import argparse
import contextlib
import itertools
import json
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass

from rich.progress import Progress

from pddlego_local.commands.shared.name_warnings import name_warnings
from pddlego_local.commands.shared.options import count
from pddlego_local.commands.shared.training_warnings import training_warnings
from pddlego_local.core.console import literal_console
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion
from pddlego_local.core.seeds import derive_seed
from pddlego_local.core.visible import visible
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import AnyQuestion, Model, Question
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.model_caller import draw_answers
from pddlego_local.episode.planning import repaired
from pddlego_local.models.scripted import Scripted
from pddlego_local.runner.config import CellConfig, compose_cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("overrides", nargs="*", help="Hydra overrides, such as model=random")
    add(
        "-n", type=count(100_000), default=10, help="the number of answers (default 10)"
    )
    add(
        "-cd",
        "--config-dir",
        metavar="DIR",
        help="a folder with configurations of your own",
    )
    add("--prompt", action="store_true", help="print the prompt and stop")


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes the answers, with their ids, in the order in which they complete."""
    config = compose_cell(arguments.overrides, arguments.config_dir)
    if arguments.prompt:
        for message in first_question(config).messages:
            print(f"{message.role}:\n{visible(message.content)}\n")
        return 0
    built = config.check(games=config.settings.games[:1])
    for warning in (*training_warnings([config]), *name_warnings([config])):
        print(f"warning: {warning}", file=sys.stderr)
    model: Model = built["model"]
    model.preflight(thinking=built["decoding"].thinking)
    asked = {"cell": config.cell, "game": config.settings.games[0]}
    with contextlib.ExitStack() as stack:
        # SIGTERM, which ends a batch job, acts as Ctrl-C: servers are stopped, same
        # exit code.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        stack.callback(signal.signal, signal.SIGTERM, before)
        stack.enter_context(contextlib.closing(model))  # unblocks waiting threads
        pool = ThreadPoolExecutor(config.settings.run.concurrency)
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        progress = stack.enter_context(Progress(console=literal_console(stderr=True)))
        draw_one, ascii_only = (
            sampler(config, model, first_question(config)),
            sys.stdout.isatty(),
        )
        futures = [pool.submit(draw_one, number) for number in range(arguments.n)]
        for future in progress.track(
            as_completed(futures), len(futures), description="answers"
        ):
            row = {**asdict(future.result()), **asked}
            print(json.dumps(row, ensure_ascii=ascii_only), flush=True)
    return 0


@dataclass(frozen=True)
class Sample:
    """One answer of a model.

    `id` is its number. `domain` and `problem` are the files that a run would plan with:
    without what a rung lets an answer state twice, and repaired if `decoding.repair` is
    set. `fault` says why no files could be read from the answer, "" if they could
    (`pddlego_local.core.outcomes.CAUSES`). `text` is the answer if it could not be
    read, else "". `forced_tokens` counts those of the `completion_tokens` that were the
    only ones that the grammar allowed.
    """

    id: int
    domain: str
    problem: str
    finish_reason: str
    completion_tokens: int
    forced_tokens: int
    rung: str
    fault: str
    text: str


def first_question(config: CellConfig) -> AnyQuestion:
    """Returns the first question of the configured method in the first configured game.

    To obtain it, the method plays the game with a model whose answers are all
    truncated. Raises ConfigError if the game ends before the method asks.
    """
    environment, method = config.build("environment"), config.build("method")
    game = config.settings.games[0]
    config.check_games(environment, (game,))
    model = Scripted(itertools.repeat(Completion("", "length", 0, 0, 0.0)))
    with (
        contextlib.closing(environment),
        contextlib.closing(config.build("planner")) as planner,
    ):
        parts = Parts(environment, model, planner, config.build("decoding"))
        method(Episode(parts, lambda _: None, run_seed=0, game=game, trial=0))
    if not model.asked:
        raise ConfigError(f"games={game}: this game ends before a model is asked")
    return model.asked[0]


def sampler(
    config: CellConfig, model: Model, question: AnyQuestion
) -> Callable[[int], Sample]:
    """Returns a thread-safe function that draws the answer with a given number.

    Raises ConfigError if the question does not ask for a domain and a problem.
    """
    decoding: Decoding = config.build("decoding")
    if question.form != PDDL:
        raise ConfigError(
            f"method={config.labels['method']} asks for no domain and problem"
        )
    asked = Question(PDDL, question.messages, question.context)

    def sample(number: int) -> Sample:
        sampling = decoding.sampling(
            derive_seed(config.settings.seed, "sample", number)
        )
        ((drawn, answer),) = draw_answers(model, asked, decoding, sampling)
        completion, (domain, problem) = drawn.completion, ("", "")
        if answer.value:
            domain, problem, _ = repaired(
                decoding, answer.value.df, answer.value.pf, asked.context
            )
        return Sample(
            id=number,
            domain=domain,
            problem=problem,
            finish_reason=completion.finish_reason,
            completion_tokens=completion.completion_tokens,
            forced_tokens=completion.forced_tokens,
            rung=decoding.rung,
            fault=answer.fault,
            text=completion.text if answer.fault else "",
        )

    return sample


def samples(
    config: CellConfig, model: Model, question: AnyQuestion, most: int
) -> list[Sample]:
    """Draws `most` answers, in the order of their numbers. Raises the errors of
    `sampler`.
    """
    with ThreadPoolExecutor(config.settings.run.concurrency) as pool:
        return list(pool.map(sampler(config, model, question), range(most)))
