"""Games that a small model of this project plays greedily, without a second try."""

import contextlib
from collections.abc import Iterable

from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.explored.game import Explored
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.models.transformers import Engine, TransformersModel
from pddlego_local.models.weights import training_maps
from pddlego_local.planner import FastDownward

Game = Alfworld | Coin | Cooking | Explored


def outcomes_of_edits(
    weights: str, environment: Game, games: Iterable[int], planner: FastDownward
) -> list[str]:
    """Plays games by edits under `grounded`, on maps that the training did not have."""
    engine = Engine(device="cpu", threads=1)
    model = TransformersModel(weights=weights, dtype="float32", engine=engine)
    decoding = Decoding(rung="grounded", temperature=0, max_tokens=1024)
    outcomes = []
    with contextlib.closing(environment), contextlib.closing(model):
        parts = Parts(environment, model, planner, decoding)
        for game in games:
            episode = Episode(parts, lambda event: None, run_seed=0, game=game, trial=0)
            outcomes.append(PddlEdit(max_retries=0)(episode))
            assert environment.map not in training_maps(weights)
    return outcomes
