"""The small model of three games that ships: what it makes of games that it has not
seen.
"""

import contextlib

import pytest

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_local.models.weights import training_maps
from pddlego_local.planner import FastDownward

EASY = Cooking(rooms=2, ingredients=2, budget=Budget(unit="actions", limit=20))


@pytest.mark.parametrize(
    "environment",
    [Alfworld(split="valid_unseen"), EASY, Coin()],
    ids=lambda one: one.name,
)
def test_it_wins_games_that_it_has_not_seen(
    environment: Alfworld | Cooking | Coin, planner: FastDownward
) -> None:
    """Two of three, under a grammar, greedily, without a second try."""
    engine = Engine(device="cpu", threads=1)
    model = TransformersModel(weights="nano_edit", dtype="float32", engine=engine)
    decoding = Decoding(rung="grounded", temperature=0, max_tokens=1024)
    with contextlib.closing(environment), contextlib.closing(model):
        parts = Parts(environment, model, planner, decoding)
        outcomes = []
        for game in range(3):
            episode = Episode(parts, lambda event: None, run_seed=0, game=game, trial=0)
            outcomes.append(PddlEdit(max_retries=0)(episode))
            assert environment.map not in training_maps("nano_edit")
    assert outcomes.count("success") >= 2
