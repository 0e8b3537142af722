"""The worlds in the box: each is a folder `worlds/NAME` like that of a user."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nearest import did_you_mean
from pddlego_local.environments.explored.folder import FILE

_WORLDS = Path(__file__).with_name("worlds")


def in_the_box() -> dict[str, Path]:
    """Returns the folders of the worlds in the box, by name."""
    return {path.parent.name: path.parent for path in sorted(_WORLDS.glob(f"*/{FILE}"))}


def folder_of(options: Mapping[str, Any]) -> Path:
    """Returns the folder of the world that the options name: a `world` in the box, or
    one's own `folder`. Raises ConfigError unless they name one of the two.
    """
    world, folder = options.get("world"), options.get("folder")
    boxed = in_the_box()
    if (world is None) == (folder is None):
        raise ConfigError(
            "environment: give one of world=NAME, which is a world in the box"
            f" ({', '.join(boxed)}), and folder=DIR, which is your own"
        )
    if folder is not None:
        return Path(folder).expanduser()
    if world not in boxed:
        end = did_you_mean(str(world), boxed)
        raise ConfigError(
            f"environment.world={world}: there is no such world{end} The worlds in the"
            f" box are {', '.join(boxed)}"
        )
    return boxed[world]
