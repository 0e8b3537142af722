"""Reads ALFWorld's games from the real data set, whose files are never written. The
games are put together in memory, and process.py plays them.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.formats import object_of
from pddlego_local.environments.alfworld.games.layout import draw_goal, rules
from pddlego_local.environments.alfworld.process import AlfworldGame

VERSION_FOLDER = "json_2.1.1"
# in a folder's name: "pick_cool_then_place_in_recep-AppleSliced-None-Sink-4"
SLICED = "Sliced"
CURRENT_GRAMMAR = "move {o} to {r}"


def find_split(data: Path, split: str) -> Path:
    """Returns the folder of a split in the data that `alfworld-download` filled. Raises
    ConfigError if there is none.
    """
    if not data.is_dir():
        raise ConfigError(
            f"environment.data: there is no folder {data}; fill one with"
            " `alfworld-download`, and name it with ALFWORLD_DATA or environment.data"
        )
    games = data / VERSION_FOLDER if (data / VERSION_FOLDER).is_dir() else data
    if not split or not (games / split).is_dir():
        folders = [path.name for path in games.iterdir() if path.is_dir()]
        names = ", ".join(sorted(folders)) or "none"
        raise ConfigError(
            f"environment.split={split!r}: {games} has no such folder, only: {names}"
        )
    return games / split


def find_games(folder: Path, task_types: Sequence[str]) -> tuple[Path, ...]:
    """Returns the trials of a split that are games of these types, sorted by path.

    A trial is a game if it has a `game.tw-pddl`, as ALFWorld itself requires. It is
    also a game if it asks for a slice: the data set has no game files for slices, but
    everything that such files are made from. Raises ConfigError if there are no games.
    """
    trials = []
    for trial in sorted(folder.glob("*/*/")):
        if _named_type(trial.parent.name) in task_types and _is_game(trial):
            trials.append(trial)
    if not trials:
        raise ConfigError(
            f"environment.data: {folder} has no game of the types"
            f" {', '.join(task_types)}; the data set is laid out as"
            " <split>/<type>-<object>-…/<trial>/game.tw-pddl"
        )
    return tuple(trials)


def _is_game(trial: Path) -> bool:
    if not (trial / "traj_data.json").is_file():
        return False
    if (trial / "game.tw-pddl").is_file():
        return True
    return SLICED in trial.parent.name and (trial / "initial_state.pddl").is_file()


def read_game(trial: Path) -> AlfworldGame:
    """Returns a game of the data set. Raises UnsolvableGame, or ConfigError if a file
    cannot be read. Game files from before ALFWorld 0.4 use the command "put … in/on …",
    which is no longer accepted. Such a game gets the rules of the installed package,
    with its own problem and its own task sentence.
    """
    trajectory = _json(trial / "traj_data.json")
    file = trial / "game.tw-pddl"
    content = _json(file) if file.is_file() else {}
    if content.get("solvable") is False:
        raise UnsolvableGame("the data set marks it as having no solution")
    try:
        return _game_of(trial, trajectory, content)
    except (KeyError, TypeError, OSError, UnicodeError) as error:
        raise _unreadable(trial, error) from None


def _game_of(
    trial: Path, trajectory: dict[str, Any], content: dict[str, Any]
) -> AlfworldGame:
    plain, parameters = trajectory["task_type"], trajectory["pddl_params"]
    if CURRENT_GRAMMAR in content.get("grammar", ""):
        domain, grammar = content["pddl_domain"], content["grammar"]
    elif content:
        domain, grammar = rules(_sentence(content["grammar"]))
    else:
        by_trial = Random(trajectory["task_id"])
        sentence, _ = draw_goal(by_trial, plain, parameters)
        domain, grammar = rules(sentence)
    if content:
        problem = content["pddl_problem"]
    else:
        problem = (trial / "initial_state.pddl").read_text(encoding="utf-8")
    return AlfworldGame(
        task_type=plain + ("+slice" if parameters["object_sliced"] else ""),
        domain=domain,
        grammar=grammar,
        problem=problem,
        floor_plan=_floor_plan(trajectory),
    )


def _named_type(name: str) -> str:
    """Returns "pick_…+slice" for
    "pick_cool_then_place_in_recep-AppleSliced-None-SinkBasin-4".
    """
    plain, _, details = name.partition("-")
    return plain + ("+slice" if SLICED in details else "")


def _floor_plan(trajectory: dict[str, Any]) -> str:
    """Returns the floor plan's name, or "" if a game from another source does not give
    it, since playing does not need it.
    """
    scene = trajectory.get("scene")
    if not isinstance(scene, dict):
        return ""
    return str(scene.get("floor_plan", ""))


def _sentence(grammar: str) -> str:
    match = re.search(r"Your task is to: ([^\"\\]+?)\.?\s*\"", grammar)
    if match is None:
        raise KeyError("the task's sentence")
    return match[1]


def _json(file: Path) -> dict[str, Any]:
    try:
        return object_of(file)
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None


def _unreadable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(
        f"environment.data: {path} cannot be read ({error}); download it again"
    )
