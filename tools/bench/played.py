"""Collects the questions to the rule-based reference, and its answers, in whole
games.
"""

import contextlib
import dataclasses
import json
from collections.abc import Iterable, Iterator
from typing import Any

from pddlego_local.core.nouns import Sampling
from pddlego_local.core.record.events import Event
from pddlego_local.decoding.question import AnyQuestion, Drawn, WholeAnswerModel
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.runner.config import compose_cell

ENVIRONMENTS = ("coin", "cooking_easy", "cooking_hard", "alfworld")


@dataclasses.dataclass(frozen=True)
class Asked:
    """A question, and the domain and problem with which the reference answered it.
    `first` says that the question is the game's first one.
    """

    first: bool
    question: AnyQuestion
    answer: dict[str, str]


def played(
    environment: str, games: Iterable[int], rung: str = "typed", *overrides: str
) -> Iterator[Asked]:
    """Yields every question of some games, in order."""
    words = [
        f"environment={environment}",
        "model=reference",
        f"decoding={rung}",
        *overrides,
    ]
    config = compose_cell(words)
    method = config.build("method")
    with (
        contextlib.closing(config.build("environment")) as game,
        contextlib.closing(config.build("model")) as model,
        contextlib.closing(config.build("planner")) as planner,
    ):
        for number in games:
            listener = _Listener(model)
            parts = Parts(game, listener, planner, config.build("decoding"))
            method(Episode(parts, _ignore, run_seed=0, game=number, trial=0))
            for place, (question, text) in enumerate(listener.answered):
                yield Asked(place == 0, question, json.loads(text))


class _Listener:
    """Passes questions on to a model and keeps them with their answers."""

    def __init__(self, model: WholeAnswerModel) -> None:
        self.answered: list[tuple[AnyQuestion, str]] = []
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        drawn = self._model.answer(question, sampling)
        self.answered.append((question, drawn.completion.text))
        return drawn


def _ignore(event: Event) -> None: ...
