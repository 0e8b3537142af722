"""Where the data folders lie: beside the package in a checkout, inside it when installed."""

from pathlib import Path

from pddlego_local.core.errors import MissingPart

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """The folder `name` ("conf", "grammars", "serving" or "weights").

    Raises MissingPart if there is none.

    The installed copy is looked at first: only a wheel has one, and beside an installed package
    a folder of that name would be somebody else's.
    """
    for path in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if path.is_dir():
            return path
    raise MissingPart(
        f"The data folder {name!r} of pddlego_local is missing; install the package again."
    )
