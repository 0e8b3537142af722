"""The small model of partly seen worlds that ships: what it makes of games that it has
not seen.
"""

import contextlib

import pytest

from pddlego_local.core.nouns import Budget
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.explored.game import Explored
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_local.models.weights import training_maps
from pddlego_local.planner import FastDownward

GAMES = range(8)
UNTIL = Budget(unit="actions", limit=50)


@pytest.mark.parametrize("renamed", [False, True])
def test_it_wins_some_houses_that_are_larger_than_in_its_training(
    renamed: bool, planner: FastDownward
) -> None:
    """Under a grammar, greedily, without a second try. It won 52 and 61 of a hundred
    such games.
    """
    settings = {"world": "coin", "sizes": (12, 16), "renamed": renamed}
    world = Explored.model_validate(settings | {"budget": UNTIL})
    engine = Engine(device="cpu", threads=1)
    model = TransformersModel(weights="nano_explored", dtype="float32", engine=engine)
    decoding = Decoding(rung="grounded", temperature=0, max_tokens=1024)
    with contextlib.closing(world), contextlib.closing(model):
        parts = Parts(world, model, planner, decoding)
        outcomes = []
        for game in GAMES:
            episode = Episode(parts, lambda event: None, run_seed=0, game=game, trial=0)
            outcomes.append(PddlEdit(max_retries=0)(episode))
            assert world.map not in training_maps("nano_explored")
    assert outcomes.count("success") >= 2
