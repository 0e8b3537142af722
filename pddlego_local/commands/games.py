"""`pddlego games`: game files of our own making, for this project and for plain `alfworld`."""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.commands.shared.counts import count
from pddlego_local.core.errors import ConfigError, EnvironmentFault, RecordFault
from pddlego_local.environments.alfworld.games import (
    PLAIN_TYPES,
    SPLITS,
    TASK_TYPES,
    Game,
    make_game,
)
from pddlego_local.environments.alfworld.playthrough import unwinnable

HELP = "game files of our own making, in the layout of the ALFWorld data set"
BATCH = 20  # games checked and written at a time
MOST = 10_000


@dataclass(frozen=True)
class GameFiles:
    """One game's folder, and its three files' contents by name."""

    folder: Path
    files: dict[str, str]

    @classmethod
    def of(cls, game: Game, split_folder: Path) -> "GameFiles":
        return cls(
            split_folder / game.name / game.trial,
            {
                "game.tw-pddl": game.tw_pddl(),
                "initial_state.pddl": game.problem,
                "traj_data.json": json.dumps(game.traj, indent=2),
            },
        )

    def are_there(self) -> bool:
        """Raises ConfigError if the folder holds anything else."""
        if not self.folder.exists():
            return False
        for name, text in self.files.items():
            file = self.folder / name
            if not file.is_file() or file.read_bytes() != text.encode():
                raise ConfigError(
                    f"{file} is missing or another game's; choose another --out, or remove "
                    f"{self.folder}"
                )
        return True

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        for name, text in self.files.items():
            (folder / name).write_bytes(text.encode())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("environment", choices=["alfworld"], help="which game")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    parser.add_argument("-n", type=count(MOST), default=10, help="how many (default 10)")
    parser.add_argument(
        "--seed", type=count(2**62, least=0), default=0, help="of the first game (default 0)"
    )
    parser.add_argument(
        "--task",
        nargs="+",
        choices=TASK_TYPES,
        default=PLAIN_TYPES,
        metavar="TYPE",
        help=f"task types, in turn by seed (default the first six of {', '.join(TASK_TYPES)})",
    )
    parser.add_argument(
        "--split",
        choices=SPLITS,
        default="valid_seen",
        help="whose floor plans to use, and the folder's name (default valid_seen)",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Writes DIR/json_2.1.1/SPLIT/NAME/TRIAL/; games that are there already stay as they are."""
    split_folder: Path = arguments.out / "json_2.1.1" / arguments.split
    try:
        games = [GameFiles.of(game, split_folder) for game in _games(arguments)]
        missing = [game for game in games if not game.are_there()]
        for start in range(0, len(missing), BATCH):
            _write(missing[start : start + BATCH], arguments.out)
    except OSError as error:
        raise RecordFault(f"--out {arguments.out}: {error.strerror}: {error.filename}") from error
    print(
        f"{len(missing)} games written to {split_folder}, each played to its end; "
        f"{len(games) - len(missing)} were there already"
    )
    return 0


def _games(arguments: argparse.Namespace) -> Iterator[Game]:
    for seed in range(arguments.seed, arguments.seed + arguments.n):
        yield make_game(seed, arguments.task[seed % len(arguments.task)], arguments.split)


def _write(games: Sequence[GameFiles], out: Path) -> None:
    """Writes them aside, has the engine play them, and only then moves them into place."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".unchecked-") as scratch:
        staged = {Path(scratch) / str(rank): game for rank, game in enumerate(games)}
        for folder, game in staged.items():
            game.write(folder)
        lost = {file.parent for file in unwinnable([f / "game.tw-pddl" for f in staged])}
        for folder, game in staged.items():
            if folder not in lost:
                game.folder.parent.mkdir(parents=True, exist_ok=True)
                folder.rename(game.folder)
    if lost:
        names = ", ".join(f"{staged[f].folder.parent.name}/{staged[f].folder.name}" for f in lost)
        raise EnvironmentFault(f"not written, for their walkthrough does not win: {names}")
