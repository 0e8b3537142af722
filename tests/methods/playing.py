"""One episode through the real game and the real planner, with any model."""

import contextlib
from typing import Any

from pddlego_local.core import Environment
from pddlego_local.decoding import Decoding
from pddlego_local.decoding.question import Model
from pddlego_local.episode import Episode, Parts
from pddlego_local.methods import Method
from pddlego_local.planner import FastDownward

Events = list[dict[str, Any]]


def play(
    method: Method,
    environment: Environment,
    model: Model,
    planner: FastDownward,
    *,
    game: int = 1,
    earlier: Any = (),
) -> tuple[str, Events]:
    """The outcome, and every event of the transcript."""
    events: Events = []
    parts = Parts(environment, model, planner, Decoding(rung="free"))
    episode = Episode(
        parts,
        lambda event, **facts: events.append({"event": event, **facts}),
        run_seed=0,
        game=game,
        trial=0,
        earlier=earlier,
    )
    with contextlib.closing(model):
        return method(episode), events


def of(events: Events, kind: str) -> Events:
    return [event for event in events if event["event"] == kind]
