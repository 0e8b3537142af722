"""The maps of a training's games: what evaluation leaves out, and how much that leaves of it."""

import contextlib
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Evaluation:
    """What some evaluation games of one size are good for.

    Of the `games`, `trivial` ones are over at the first look; of the others, which have `maps`
    different maps, `seen` are on maps that occur in training. `left_maps` are those of the rest.
    """

    games: int
    trivial: int
    maps: int
    seen: int
    left_maps: int

    @property
    def left(self) -> int:
        return self.games - self.trivial - self.seen


def evaluation(rooms: int, seeds: Collection[int], trained_on: Collection[str]) -> Evaluation:
    maps = list[str]()
    with contextlib.closing(Coin(rooms=rooms)) as environment:
        for seed in seeds:
            if not environment.reset(seed).success:
                maps.append(environment.map)
    left = [map_ for map_ in maps if map_ not in trained_on]
    return Evaluation(
        len(seeds), len(seeds) - len(maps), len(set(maps)), len(maps) - len(left), len(set(left))
    )
