"""One episode through the real game and the real planner, with any model."""

import contextlib
from collections.abc import Sequence
from typing import TypeVar

from pddlego_local.core.nouns import Sampling
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.events import ActionTaken, Event
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.question import AnyQuestion, Drawn, Model
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods import Method
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell

Events = list[Event]
FREE = Decoding(rung="free")
E = TypeVar("E")


def play(
    method: Method,
    environment: Environment,
    model: Model,
    planner: FastDownward,
    *,
    game: int = 1,
    trial: int = 0,
    earlier: Sequence[EpisodeRow] = (),
    decoding: Decoding = FREE,
) -> tuple[str, Events]:
    """The outcome, and every event of the transcript."""
    events: Events = []
    parts = Parts(environment, model, planner, decoding)
    episode = Episode(
        parts, events.append, run_seed=0, game=game, trial=trial, earlier=earlier
    )
    with contextlib.closing(model):
        return method(episode), events


def built(name: str) -> Method:
    """A method as its config has it."""
    method: Method = compose_cell([f"method={name}"]).build("method")
    return method


def of(events: Events, kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def commands(events: Events) -> list[str | None]:
    return [action.command for action in of(events, ActionTaken)]


class Listener(Scripted):
    """The reference; keeps the questions that it was asked."""

    def __init__(self) -> None:
        super().__init__([])
        self._model = ReferenceFormalizer()

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        self.asked.append(question)
        return self._model.answer(question, sampling)

    def close(self) -> None:
        self._model.close()
