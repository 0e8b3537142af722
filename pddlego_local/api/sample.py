"""Draws answers of a model to a game's first question, each with its own seed."""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import AnyQuestion, Model, Question
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.model_caller import draw_answers
from pddlego_local.episode.planning import repaired
from pddlego_local.models.scripted import Scripted
from pddlego_local.runner.config import CellConfig


@dataclass(frozen=True)
class Sample:
    """One answer of a model.

    `id` is its number. `domain` and `problem` are the files that a run would plan with:
    without what a rung lets an answer state twice, and repaired if `decoding.repair` is
    set. `fault` says why no files could be read from the answer, "" if they could
    (`pddlego_local.core.outcomes.CAUSES`). `text` is the answer if it could not be
    read, else "". `forced_tokens` counts those of the `completion_tokens` that were not
    sampled, because the grammar allowed no others.
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


@contextlib.contextmanager
def model_of(config: CellConfig) -> Iterator[Model]:
    """Opens the configured model. Raises MissingPart and ModelFault."""
    model: Model = config.build("model")
    model.preflight(thinking=config.build("decoding").thinking)
    with contextlib.closing(model):
        yield model


def first_question(config: CellConfig) -> AnyQuestion:
    """Returns the first question of the configured method in the first configured game.

    To obtain it, the method plays the game with a model whose answers are all
    truncated. Raises ConfigError if the game ends before the method asks.
    """
    environment = config.build("environment")
    method = config.build("method")
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
        seed = derive_seed(config.settings.seed, "sample", number)
        ((drawn, answer),) = draw_answers(
            model, asked, decoding, decoding.sampling(seed)
        )
        completion = drawn.completion
        domain = problem = ""
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
    config: CellConfig, model: Model, question: AnyQuestion, count: int
) -> list[Sample]:
    """Draws `count` answers, in the order of their numbers. Raises the errors of
    `sampler`.
    """
    with ThreadPoolExecutor(config.settings.run.concurrency) as pool:
        return list(pool.map(sampler(config, model, question), range(count)))
