"""The folder of one environment, which holds all files of this environment.

    game.py                    the game itself: implements `core.protocols.Environment`
    tables.yaml                its actions, feedback rules and difficulty groups
    domain.pddl                optional: the hand-written domain, for the methods that
                               are given one
    reference.py               the answers of a perfect model (`models.reference` lists
                               them)
    prompts/environment.yaml   its words in every prompt
    prompts/<method>.yaml      the examples that the prompts of some methods show

The folder is a package, and the environment is found by the package's name, wherever
the folder is. One YAML in the group `environment` of a configuration folder names its
class. A `BaseEnvironment` has no folder: it provides what would be in these files.
"""

import hashlib
import importlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pddlego_local.core import yaml_faults
from pddlego_local.core.errors import ConfigError

ALWAYS = ("game.py", "tables.yaml")
_PLACES = {
    "reference.py": "the method `problem` of its class, for model=reference,",
    "prompts/environment.yaml": "environment.words",
}

_given: dict[str, Mapping[str, Any]] = {}


def give(name: str, contents: Mapping[str, Any]) -> str:
    """Registers an environment without a folder. `contents` maps the name of each file
    to what would be in it. Returns a package name that identifies exactly these
    contents.
    """
    data = {file: data for file, data in contents.items() if not file.endswith(".py")}
    text = json.dumps(data)
    digest = hashlib.sha256(text.encode()).hexdigest()
    package = f"{name}@{digest[:8]}"
    _given[package] = contents
    return package


def missing(package: str, *names: str) -> list[str]:
    """Returns a sentence for each of these files that is missing. Raises ConfigError if
    there is no such package.
    """
    known_as, _, _ = package.partition("@")
    incomplete = f"the environment {known_as} is not complete"
    sentences = []
    for name in names:
        if not _has(package, name):
            sentences.append(f"{incomplete}: {place(package, name)} is missing")
    return sentences


def place(package: str, name: str) -> str:
    """Returns where a file of the environment is or should be, as messages name it."""
    if package not in _given:
        return str(_path(package, name))
    example = name.replace("prompts/", "environment.examples.").removesuffix(".yaml")
    return _PLACES.get(name, example)


def _path(package: str, name: str) -> Traversable:
    try:
        return resources.files(package).joinpath(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"environment: there is no package {package!r}; the folder that holds it"
            " must be on PYTHONPATH"
        ) from error


def _has(package: str, name: str) -> bool:
    if package in _given:
        return name in _given[package]
    return _path(package, name).is_file()


def _require(package: str, name: str) -> None:
    for sentence in missing(package, name):
        raise ConfigError(sentence)


def text(package: str, name: str) -> str:
    """Returns the text of a file. Raises ConfigError, naming the file, if it is
    missing.
    """
    _require(package, name)
    if package in _given:
        return json.dumps(_given[package][name])
    try:
        return _path(package, name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        path = Path(place(package, name))
        raise ConfigError(yaml_faults.not_utf_8(path)) from error


@cache
def words(package: str, name: str) -> dict[str, Any]:
    """Returns the content of a YAML file. Raises ConfigError if it is missing or is not
    a mapping.
    """
    _require(package, name)
    if package in _given:
        return dict(_given[package][name])
    where = place(package, name)
    content = yaml_faults.load(text(package, name), where)
    if not isinstance(content, dict):
        raise ConfigError(f"{where} is not a mapping of keys")
    return content


def reference(package: str) -> Any:
    """Returns the rules of a perfect model. Raises ConfigError, naming the file, if
    there are none.
    """
    _require(package, "reference.py")
    if package in _given:
        return _given[package]["reference.py"]
    return importlib.import_module(f"{package}.reference")


def sha256(package: str) -> str:
    """Returns one hash of the tables and of what games are made from: the domain and
    the worlds.
    """
    names = ["tables.yaml", "domain.pddl"]
    if package not in _given:
        names += _worlds(package)
    texts = [text(package, name) for name in names if _has(package, name)]
    everything = "\0".join(texts)
    return hashlib.sha256(everything.encode()).hexdigest()


def _worlds(package: str) -> list[str]:
    folder = _path(package, "worlds")
    if not folder.is_dir():
        return []
    names = sorted(file.name for file in folder.iterdir())
    return [f"worlds/{name}" for name in names if name.endswith(".yaml")]
