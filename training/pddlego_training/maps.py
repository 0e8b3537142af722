"""The maps of training games, which are excluded from evaluation."""

from collections.abc import Collection, Hashable, Iterable
from pathlib import Path

from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.explored.game import Explored
from pddlego_local.models.card import TRAINING_MAPS
from pddlego_training.examples import Game
from pddlego_training.wide_rooms import WideAlfworld

_COMMENT = """\
# The maps of the games that these weights learned from, by the hashes that records name
# maps by (`map` of each environment in pddlego_local/environments/). Made by `pddlego
# train`.
"""


def maps_of(games: Iterable[Game]) -> set[str]:
    """Returns the maps of these games. Games are reset but not played."""
    houses: dict[Hashable, Coin | Cooking] = {}
    maps = set[str]()
    for game in games:
        sizes: Hashable = game.kitchen
        if game.kind == "coin":
            sizes = (game.rooms, game.doors)
        alike = (game.kind, sizes)
        environment = houses.get(alike) or game.environment()
        if isinstance(environment, Described | WideAlfworld):
            maps.add(environment.map_of(game.seed))
            continue
        if not isinstance(environment, Explored):
            houses[alike] = environment
        environment.reset(game.seed)
        maps.add(environment.map)
    return maps


def write(folder: Path, maps: Collection[str]) -> None:
    """Writes the list of maps into the folder of the weights (see
    `models.weights.training_maps`)."""
    lines = "".join(f"{map_}\n" for map_ in sorted(maps))
    (folder / TRAINING_MAPS).write_text(_COMMENT + lines, encoding="utf-8")
