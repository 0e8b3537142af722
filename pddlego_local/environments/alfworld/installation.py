"""Finds ALFWorld, which is installed in a separate Python environment.

TextWorld's `fast-downward-textworld` installs a package `fast_downward` over the
planner's translator of the same name, so one environment cannot hold both. This module
imports neither.
"""

import importlib.metadata
import os
from pathlib import Path

from pddlego_local.core.errors import MissingPart

VARIABLE = "PDDLEGO_ALFWORLD_ENV"
FOLDER = ".venv-alfworld"
_CHECKOUT = Path(__file__).parents[3]


def find_environment() -> Path:
    """Returns the environment that PDDLEGO_ALFWORLD_ENV names, or else .venv-alfworld
    in the current folder or in the checkout. Raises MissingPart, which says which
    command installs it.
    """
    named = os.environ.get(VARIABLE)
    if named:
        places = [Path(named).absolute()]
    else:
        places = [Path(FOLDER).absolute(), _CHECKOUT / FOLDER]
    for place in places:
        if Path(python(place)).is_file() and _packages(place):
            return place
    raise MissingPart(
        f"ALFWorld is not installed in {places[0]}: type `make alfworld`, or make an"
        f" environment with `pip install alfworld==0.4.2` and set {VARIABLE} to its"
        " folder"
    )


def python(environment: Path) -> str:
    """Returns the path of the environment's interpreter."""
    return str(environment / "bin" / "python")


def find_package() -> Path:
    """Returns the folder of the package `alfworld`. Raises MissingPart."""
    return _packages(find_environment())[0]


def installed_versions() -> dict[str, str]:
    """Returns the versions of the packages that play the games, by package. The result
    is empty if ALFWorld is not installed.
    """
    try:
        folder = find_package().parent
    except MissingPart:
        return {}
    installed = importlib.metadata.distributions(path=[str(folder)])
    versions = {}
    for package in installed:
        if package.name in ("alfworld", "textworld"):
            versions[package.name] = package.version
    return versions


def _packages(environment: Path) -> list[Path]:
    return sorted(environment.glob("lib/python3*/site-packages/alfworld"))
