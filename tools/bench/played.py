"""What the rule-based reference is asked for in whole games of every environment, and answers."""

import contextlib
import dataclasses
import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

from pddlego_local.core.nouns import Sampling
from pddlego_local.core.record.events import Event
from pddlego_local.decoding.forms import Fields
from pddlego_local.decoding.question import Drawn, Question, WholeAnswerModel
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.runner.config import compose_cell

ENVIRONMENTS = ("coin", "cooking_easy", "cooking_hard", "alfworld")


@dataclasses.dataclass(frozen=True)
class Asked:
    """A domain and a problem as the reference wrote them. `first`: to the game's first look."""

    first: bool
    question: Question[Fields]
    answer: dict[str, str]


def played(environment: str, games: Iterable[int], rung: str = "typed") -> Iterator[Asked]:
    """Every question of some games, in order."""
    config = compose_cell([f"environment={environment}", "model=reference", f"decoding={rung}"])
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
            for place, (question, text) in enumerate(listener.heard):
                yield Asked(place == 0, question, json.loads(text))


class _Listener:
    """Passes questions on, and keeps them with their answers."""

    decodes: ClassVar[Literal[False]] = False

    def __init__(self, model: WholeAnswerModel) -> None:
        self.heard: list[tuple[Question[Fields], str]] = []
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def answer(
        self, question: Question[Fields], sampling: Sampling, sample: int = 0, of: int = 1
    ) -> Drawn:
        drawn = self._model.answer(question, sampling, sample, of)
        self.heard.append((question, drawn.completion.text))
        return drawn


def _ignore(event: Event) -> None: ...
