"""Whether ALFWorld's own engine agrees that a game can be won: its walkthrough is played."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pddlego_local.environments.alfworld.process import AlfworldGame, GameProcess, Limits


def unwinnable(games: Sequence[Path]) -> list[Path]:
    """Those of the `game.tw-pddl` files whose walkthrough does not win.

    Raises EnvironmentFault if the engine dies or hangs, MissingPart if it is not installed.
    """
    with closing(GameProcess(Limits())) as process:
        return [file for file in games if not _won(process, json.loads(file.read_text()))]


def _won(process: GameProcess, game: dict[str, str]) -> bool:
    texts = (game["pddl_domain"], game["grammar"], game["pddl_problem"])
    reply = process.begin(AlfworldGame("", *texts))
    for command in game["walkthrough"]:
        reply = process.step(command)
    return reply.won
