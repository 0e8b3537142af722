"""The project's own files: the data folders, which are beside the package in a checkout
and inside it when installed, and the YAML files and templates beside modules.
"""

import functools
from pathlib import Path
from typing import Any

import jinja2

from pddlego_local.core import yaml_faults
from pddlego_local.core.errors import MissingPart

jinja = functools.partial(
    jinja2.Environment,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
"""Makes an environment for templates. An unknown name is an error, and a line with only
a tag leaves no blank line.
"""

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
