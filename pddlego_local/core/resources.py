"""Finds the data folders, which are beside the package in a checkout and inside it when
installed. Reads the YAML files beside modules.
"""

from pathlib import Path
from typing import Any

from pddlego_local.core import yaml_faults
from pddlego_local.core.errors import MissingPart

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """Returns the path of the data folder `name`: "conf", "grammars", "serving" or
    "weights".

    Raises MissingPart if there is no such folder. The installed copy comes first: only
    a wheel has one, and a folder of that name beside an installed package would be
    somebody else's.
    """
    for path in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if path.is_dir():
            return path
    raise MissingPart(
        f"The data folder {name!r} of pddlego_local is missing; install the package"
        " again."
    )


def table(module: str, name: str = "") -> Any:
    """Returns the content of a YAML file beside a module, whose `__file__` is given.
    Without a `name`, the file has the name of the module.
    """
    path = Path(module)
    file = path.with_name(name) if name else path.with_suffix(".yaml")
    return yaml_faults.read(file)
