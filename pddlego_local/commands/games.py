"""`pddlego games`: game files of our own making, for this project and for plain `alfworld`."""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pddlego_local.commands.shared.options import count
from pddlego_local.core.errors import ConfigError, EnvironmentFault
from pddlego_local.environments.alfworld.games import (
    PLAIN_TYPES,
    SPLITS,
    TASK_TYPES,
    Game,
    make_game,
)
from pddlego_local.environments.alfworld.process import unwinnable

BATCH = 20  # games checked and written at a time
MOST = 10_000

Files = dict[str, bytes]
"""A game's three files by name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, first = parser.add_argument, "of the first game (default 0)"
    types = f"task types, in turn by seed (default the first six of {', '.join(TASK_TYPES)})"
    floors = "whose floor plans to use, and the folder's name (default valid_seen)"
    add("environment", choices=["alfworld"], help="which game")
    add("--out", type=Path, required=True, metavar="DIR", help="where to write")
    add("-n", type=count(MOST), default=10, help="how many (default 10)")
    add("--seed", type=count(2**62, least=0), default=0, help=first)
    add("--task", nargs="+", choices=TASK_TYPES, default=PLAIN_TYPES, metavar="TYPE", help=types)
    add("--split", choices=SPLITS, default="valid_seen", help=floors)


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes DIR/json_2.1.1/SPLIT/NAME/TRIAL/; games that are there already stay as they are."""
    split_folder: Path = arguments.out / "json_2.1.1" / arguments.split
    games = list[tuple[Path, Files]]()
    for seed in range(arguments.seed, arguments.seed + arguments.n):
        game = make_game(seed, arguments.task[seed % len(arguments.task)], arguments.split)
        games.append((split_folder / game.name / game.trial, _files(game)))
    missing = [(folder, files) for folder, files in games if not _are_there(folder, files)]
    for start in range(0, len(missing), BATCH):
        _write(missing[start : start + BATCH], arguments.out)
    print(
        f"{len(missing)} games written to {split_folder}, each played to its end; "
        f"{len(games) - len(missing)} were there already"
    )
    return 0


def _files(game: Game) -> Files:
    return {
        "game.tw-pddl": game.tw_pddl().encode(),
        "initial_state.pddl": game.problem.encode(),
        "traj_data.json": json.dumps(game.traj, indent=2).encode(),
    }


def _are_there(folder: Path, files: Files) -> bool:
    """Raises ConfigError if the folder holds anything else."""
    if not folder.exists():
        return False
    for name, content in files.items():
        file = folder / name
        if not file.is_file() or file.read_bytes() != content:
            raise ConfigError(
                f"{file} is missing or another game's; choose another --out, or remove {folder}"
            )
    return True


def _write(games: Sequence[tuple[Path, Files]], out: Path) -> None:
    """Writes them aside, has the engine play them, and only then moves them into place."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".unchecked-") as scratch:
        staged = {Path(scratch) / str(rank): game for rank, game in enumerate(games)}
        for aside, (_, files) in staged.items():
            aside.mkdir()
            for name, content in files.items():
                (aside / name).write_bytes(content)
        lost = {file.parent for file in unwinnable([aside / "game.tw-pddl" for aside in staged])}
        for aside, (folder, _) in staged.items():
            if aside not in lost:
                folder.parent.mkdir(parents=True, exist_ok=True)
                aside.rename(folder)
    if lost:
        folders = [staged[aside][0] for aside in lost]
        names = ", ".join(f"{folder.parent.name}/{folder.name}" for folder in folders)
        raise EnvironmentFault(f"not written, for their walkthrough does not win: {names}")
