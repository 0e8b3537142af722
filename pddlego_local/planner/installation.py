"""Where Fast Downward lies. Finds its packages without importing them: they are GPL-3.0."""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pddlego_local.core.errors import MissingPart

INSTALL = "install it with `python -m pip install up-fast-downward==1.0.0`"


@dataclass(frozen=True)
class Installation:
    """`translator` is the folder that holds the package `fast_downward`; `search` the binary.

    It is the copy that lies beside the binary: TextWorld installs a package `fast_downward` too,
    of another version, over the one that Python would find.
    """

    translator: Path
    search: Path


def find_fast_downward() -> Installation:
    """The installed planner; MissingPart if a piece of it is not there."""
    release = _package_folder("up_fast_downward") / "downward/builds/release/bin"
    translator, search = release / "fast_downward", release / "downward"
    if not (translator / "translate").is_dir():
        raise MissingPart(f"Fast Downward's translator is not in {translator}; {INSTALL}.")
    if not os.access(search, os.X_OK):
        raise MissingPart(f"Fast Downward's search binary {search} is not there; {INSTALL}.")
    return Installation(translator.parent, search)


def _package_folder(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPart(f"Fast Downward (Python package `{name}`) is not installed; {INSTALL}.")
    return Path(next(iter(spec.submodule_search_locations)))
