"""Where ALFWorld lies: in a Python environment of its own.

TextWorld's `fast-downward-textworld` installs a package `fast_downward` over the planner's
translator of the same name, so that one environment cannot hold both. Nothing is imported here.
"""

import importlib.metadata
import os
from pathlib import Path

from pddlego_local.core.errors import MissingPart

VARIABLE = "PDDLEGO_ALFWORLD_ENV"
FOLDER = ".venv-alfworld"
_CHECKOUT = Path(__file__).parents[3]


def find_environment() -> Path:
    """The environment that PDDLEGO_ALFWORLD_ENV names, else .venv-alfworld here or in the checkout.
    Raises MissingPart, saying which command helps."""
    named = os.environ.get(VARIABLE)
    places = [Path(named).absolute()] if named else [Path(FOLDER).absolute(), _CHECKOUT / FOLDER]
    for place in places:
        if Path(python(place)).is_file() and _packages(place):
            return place
    raise MissingPart(
        f"ALFWorld is not installed in {places[0]}: type `make alfworld`, or make an environment "
        f"with `pip install alfworld==0.4.2` and name it with {VARIABLE}"
    )


def python(environment: Path) -> str:
    """Its interpreter's path."""
    return str(environment / "bin" / "python")


def find_package() -> Path:
    """The folder of the package `alfworld`. Raises MissingPart."""
    return _packages(find_environment())[0]


def versions() -> dict[str, str]:
    """Package → version of what plays the games; empty where ALFWorld is not installed."""
    try:
        folder = find_package().parent
    except MissingPart:
        return {}
    installed = importlib.metadata.distributions(path=[str(folder)])
    return {d.name: d.version for d in installed if d.name in ("alfworld", "textworld")}


def _packages(environment: Path) -> list[Path]:
    return sorted(environment.glob("lib/python3*/site-packages/alfworld"))
