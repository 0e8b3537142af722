"""The folder of one environment: everything that belongs to it lies together.

    game.py                    the game itself: what implements `core.protocols.Environment`
    tables.yaml                its actions, feedback rules and difficulty groups
    domain.pddl                where it has one: the hand-written domain of the methods that are
                               given one
    reference.py               the answers of a perfect model (`models.reference` says which)
    prompts/environment.yaml   its words in every prompt
    prompts/<method>.yaml      the examples that the prompts of some methods show

The folder is a package; its name is what the environment is found by, wherever it lies. One YAML
in the group `environment` of a folder of configurations names its class. A `BaseEnvironment` has no
folder: it gives what would be in these files.
"""

import hashlib
import importlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from pddlego_local.core.errors import ConfigError

ALWAYS = ("game.py", "tables.yaml")
_PLACES = {
    "reference.py": "the method `problem` of its class, for model=reference,",
    "prompts/environment.yaml": "environment.words",
}

_given: dict[str, Mapping[str, Any]] = {}


def give(name: str, contents: Mapping[str, Any]) -> str:
    """For an environment without a folder: what would be in its files, by their names. Returns its
    package: what all of this is found by, and nothing else."""
    text = json.dumps(
        {file: content for file, content in contents.items() if not file.endswith(".py")}
    )
    package = f"{name}@{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    _given[package] = contents
    return package


def missing(package: str, *names: str) -> list[str]:
    """A sentence for each of these files that is missing. Raises ConfigError where there is no such
    package."""
    incomplete = f"the environment {package.partition('@')[0]} is not complete"
    return [
        f"{incomplete}: {place(package, name)} is missing"
        for name in names
        if not _has(package, name)
    ]


def place(package: str, name: str) -> str:
    """Where a file of the environment is, or would be, as sentences name it."""
    if package not in _given:
        return str(_path(package, name))
    return _PLACES.get(name, name.replace("prompts/", "environment.examples.")[: -len(".yaml")])


def _path(package: str, name: str) -> Traversable:
    try:
        return resources.files(package).joinpath(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"environment: there is no package {package!r}; the folder that holds it must be on "
            "PYTHONPATH"
        ) from error


def _has(package: str, name: str) -> bool:
    return name in _given[package] if package in _given else _path(package, name).is_file()


def _require(package: str, name: str) -> None:
    for sentence in missing(package, name):
        raise ConfigError(sentence)


def text(package: str, name: str) -> str:
    """Raises ConfigError naming the file that is missing."""
    _require(package, name)
    if package in _given:
        return json.dumps(_given[package][name])
    return _path(package, name).read_text(encoding="utf-8")


@cache
def words(package: str, name: str) -> dict[str, Any]:
    """A YAML file of the environment; raises ConfigError where it is not one of keys."""
    _require(package, name)
    if package in _given:
        return dict(_given[package][name])
    try:
        content = yaml.safe_load(text(package, name))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{place(package, name)} is no YAML: {reason}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{place(package, name)} holds no keys")
    return content


def reference(package: str) -> Any:
    """The rules of a perfect model; raises ConfigError naming the file where there are none."""
    _require(package, "reference.py")
    if package in _given:
        return _given[package]["reference.py"]
    return importlib.import_module(f"{package}.reference")


def sha256(package: str) -> str:
    """One hash for its tables and what it makes games of: its domain, its worlds."""
    worlds = [] if package in _given else _worlds(package)
    names = [name for name in ("tables.yaml", "domain.pddl", *worlds) if _has(package, name)]
    texts = [text(package, name) for name in names]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _worlds(package: str) -> list[str]:
    folder = _path(package, "worlds")
    names = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    return [f"worlds/{name}" for name in names if name.endswith(".yaml")]
