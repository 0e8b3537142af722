"""The maps of a training's games: what evaluation leaves out, and how much that leaves of it."""

import contextlib
from collections.abc import Collection, Hashable, Iterable
from pathlib import Path
from typing import NamedTuple

from pddlego_local.environments.alfworld.simulation import SimulatedAlfworld
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.described.game import Described
from pddlego_local.models.card import TRAINING_MAPS
from pddlego_local.training.examples import Game

_COMMENT = """\
# The maps of the games that these weights learned from, by the hashes that records name maps by
# (`map` of each environment in pddlego_local/environments/). Made by `pddlego train`.
"""


def maps_of(games: Iterable[Game]) -> set[str]:
    """Each game is reset, none is played."""
    environments: dict[Hashable, Coin | Cooking | SimulatedAlfworld] = {}
    maps = set[str]()
    for game in games:
        sizes = {"coin": (game.rooms, game.doors), "cooking": game.kitchen}
        alike = game.kind, sizes.get(game.kind)
        environment = environments.get(alike) or game.environment()
        if isinstance(environment, Described):
            maps.add(environment.map_of(game.seed))
            continue
        environments[alike] = environment
        environment.reset(game.seed)
        maps.add(environment.map)
    return maps


def write(folder: Path, maps: Collection[str]) -> None:
    """The list beside the weights (`models.weights.training_maps` reads it)."""
    lines = "".join(f"{map_}\n" for map_ in sorted(maps))
    (folder / TRAINING_MAPS).write_text(_COMMENT + lines, encoding="utf-8")


class Evaluation(NamedTuple):
    """What some evaluation games of one size are good for.

    Of the `games`, `trivial` ones are over at the first look; of the others, which have `maps`
    different maps, `seen` are on maps that occur in training. The rest are `left`, on `left_maps`.
    """

    games: int
    trivial: int
    maps: int
    seen: int
    left: int
    left_maps: int


def evaluation(rooms: int, seeds: Collection[int], trained_on: Collection[str]) -> Evaluation:
    with contextlib.closing(Coin(rooms=rooms)) as environment:
        maps = [environment.map for seed in seeds if not environment.reset(seed).success]
    left = [map_ for map_ in maps if map_ not in trained_on]
    trivial, seen = len(seeds) - len(maps), len(maps) - len(left)
    return Evaluation(len(seeds), trivial, len(set(maps)), seen, len(left), len(set(left)))
