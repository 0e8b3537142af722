"""ALFWorld games of our own in which receptacles share a place, as many do in ALFRED's
rooms.
"""

import dataclasses
import re
from pathlib import Path

from pddlego_local.environments.alfworld.games import GeneratedGame, make_game
from tests.environments import alfworld_files

SPLIT = "valid_seen"


def shared(game: GeneratedGame) -> GeneratedGame:
    """The game with all receptacles of a kind at two places at most, every other one at
    each.
    """
    places = dict(re.findall(r"\(receptacleAtLocation (\w+) (\w+)\)", game.problem))
    kinds = dict(re.findall(r"\(receptacleType (\w+) (\w+)\)", game.problem))
    first: dict[tuple[str, int], str] = {}
    problem = game.problem
    for number, (name, place) in enumerate(places.items()):
        spot = first.setdefault((kinds[name], number % 2), place)
        if spot != place:
            problem = problem.replace(f"{place} - location\n", "")
            problem = problem.replace(f" {place})", f" {spot})")
    return dataclasses.replace(game, problem=problem)


def write(folder: Path, seed: int, task_type: str) -> None:
    """A data set of one game, for `Alfworld(data=folder, split=SPLIT)`."""
    alfworld_files.write(folder / SPLIT, shared(make_game(seed, task_type)), seed)
