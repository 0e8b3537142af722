"""One trial of a method that learns between trials, in the real game, as the row of a
run.
"""

import json
from collections.abc import Sequence
from typing import Any

from pddlego_local.core.nouns import Budget
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.coin.game import Coin
from pddlego_local.methods.fcrf import Difficulty, Fcrf
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods import playing

GAME = (
    1  # 5 rooms: kitchen, closed doors south and west; the coin is behind the west one
)


def act(command: str) -> str:
    return json.dumps({"kind": "act", "text": command})


def think(thought: str) -> str:
    return json.dumps({"kind": "think", "text": thought}, ensure_ascii=False)


def text(said: str) -> str:
    return json.dumps({"text": said})


WINNING = [act("open door to west"), act("move west")]
FAILING = [act("move up"), act("move up")]


def fcrf(k1: int = 3, **settings: Any) -> Fcrf:
    entry = Difficulty(tasks=".*", objects=5 - k1, operations=0)  # type: ignore[arg-type]
    return Fcrf(difficulty=(entry,), **settings)


def play(
    method: Any,
    model: Scripted,
    earlier: Sequence[EpisodeRow] = (),
    *,
    game: int = GAME,
    limit: int = 20,
    unit: Any = "actions",
) -> EpisodeRow:
    """One trial of one game, as the row that a run would write."""
    house = Coin(rooms=5, budget=Budget(unit=unit, limit=limit))
    trial = sum(row.game == game for row in earlier)
    outcome, events = playing.play(
        method, house, model, FastDownward(), game=game, trial=trial, earlier=earlier
    )
    success = outcome_named(outcome).success
    return EpisodeRow(
        game=game,
        trial=trial,
        outcome=outcome,
        success=success,
        won=success,
        wall_time_s=0.0,
        **vars(summarize(events)),
    )


def opening(model: Scripted, call: int = 0) -> str:
    return model.asked[call].messages[0].content
