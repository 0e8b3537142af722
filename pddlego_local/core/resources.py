"""Finds the data folders: beside the package in a checkout, inside it when installed."""

from pathlib import Path

from pddlego_local.core.errors import MissingPart

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """Returns the path of the data folder `name`: "conf", "grammars", "serving" or "weights".

    Raises MissingPart if there is no such folder. The installed copy comes first: only a wheel has
    one, and a folder of that name beside an installed package would be somebody else's.
    """
    for path in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if path.is_dir():
            return path
    raise MissingPart(
        f"The data folder {name!r} of pddlego_local is missing; install the package again."
    )
