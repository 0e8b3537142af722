"""The folder of one environment: everything that belongs to it lies together.

    game.py                    the game itself: what implements `core.protocols.Environment`
    tables.yaml                its actions, feedback rules and difficulty groups
    domain.pddl                where it has one: the hand-written domain of the methods that are
                               given one
    reference.py               the answers of a perfect model (`models.reference` says which)
    prompts/environment.yaml   its words in every prompt
    prompts/<method>.yaml      the examples that the prompts of some methods show

The folder is a package; its name is what the environment is found by, wherever it lies. One YAML
in the group `environment` of a folder of configurations names its class.
"""

import hashlib
import importlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import ModuleType
from typing import Any

import yaml

from pddlego_local.core.errors import ConfigError

ALWAYS = ("game.py", "tables.yaml")


def missing(package: str, *names: str) -> list[str]:
    """A sentence for each of these files that is missing. Raises ConfigError where there is no such
    package."""
    paths = [_path(package, name) for name in names]
    return [_is_missing(package, path) for path in paths if not path.is_file()]


def file(package: str, name: str) -> Traversable:
    """A file of the environment; raises ConfigError naming the file that is missing."""
    path = _path(package, name)
    if not path.is_file():
        raise ConfigError(_is_missing(package, path))
    return path


def _path(package: str, name: str) -> Traversable:
    try:
        return resources.files(package).joinpath(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"environment: there is no package {package!r}; the folder that holds it must be on "
            "PYTHONPATH"
        ) from error


def _is_missing(package: str, path: Traversable) -> str:
    return f"the environment {package} is not complete: {path} is missing"


def text(package: str, name: str) -> str:
    return file(package, name).read_text(encoding="utf-8")


@cache
def words(package: str, name: str) -> dict[str, Any]:
    """A YAML file of the environment; raises ConfigError where it is not one of keys."""
    try:
        content = yaml.safe_load(text(package, name))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{file(package, name)} is no YAML: {reason}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{file(package, name)} holds no keys")
    return content


def reference(package: str) -> ModuleType:
    """The rules of a perfect model; raises ConfigError naming the file where there are none."""
    file(package, "reference.py")
    return importlib.import_module(f"{package}.reference")


def sha256(package: str) -> str:
    """One hash for its tables and what it makes games of: its domain, its worlds."""
    root = resources.files(package)
    worlds = root.joinpath("worlds")
    drawn = sorted(file.name for file in worlds.iterdir()) if worlds.is_dir() else []
    names = [*ALWAYS[1:], "domain.pddl", *(f"worlds/{n}" for n in drawn if n.endswith(".yaml"))]
    texts = [text(package, name) for name in names if root.joinpath(name).is_file()]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
