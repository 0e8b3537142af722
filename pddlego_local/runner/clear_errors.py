"""Turns errors of Hydra and pydantic about a bad value into one sentence that names the
key.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydantic
import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, InstantiationException
from omegaconf.errors import GrammarParseError, OmegaConfBaseException

from pddlego_local.core import yaml_faults
from pddlego_local.core.errors import ConfigError, PddlegoError
from pddlego_local.core.secrets import hidden, is_secret_name

_JSON = (
    "dict",
    "list",
    "float",
    "[key]",
)  # pydantic adds these to the path of a JSON value


@contextlib.contextmanager
def clear_errors(group: str) -> Iterator[None]:
    """Turns errors of pydantic and Hydra about a value of a group ("" for none) into a
    ConfigError with one sentence that names the key.
    """
    try:
        yield
    except Exception as error:
        building = isinstance(error, InstantiationException)
        cause = error.__cause__ if building else error
        if isinstance(cause, ImportError) and isinstance(cause.__cause__, ConfigError):
            cause = cause.__cause__  # from a module that reads files on import
        if isinstance(cause, PddlegoError):
            raise cause from cause.__cause__
        if isinstance(cause, pydantic.ValidationError):
            message = "; ".join(_sentence(group, e) for e in cause.errors())
        elif building and isinstance(cause, TypeError | ValueError | ImportError):
            message = f"{group}: {' '.join(str(cause).split())}"
        elif isinstance(error, yaml.YAMLError):
            message = yaml_faults.fault_of(error)
        elif isinstance(error, UnicodeDecodeError):
            message = _undecodable()
        elif isinstance(error, OSError):
            message = f"{error.filename}: {error.strerror or error}"
        elif isinstance(error, OmegaConfBaseException):
            message = ": ".join(filter(None, [error.full_key, _first_line(error)]))
        elif building and error.__cause__ is None:  # a target that Hydra refuses
            message = f"{group}: {' '.join(str(error).split())}"
        elif isinstance(error.__context__, GrammarParseError):
            key = (
                getattr(error.__context__, "full_key", None)
                or group
                or "a configuration"
            )
            message = (
                f"{key}: {_first_line(error)}; write \\${{ for a text that has ${{"
                " in it"
            )
        elif isinstance(error, HydraException | ValueError) and not building:
            message = _first_line(error)
        else:
            raise
        raise ConfigError(message) from error


def _sentence(group: str, error: Any) -> str:
    """Returns pydantic's error about one value as a sentence."""
    parts = [part for part in map(str, error["loc"]) if part not in _JSON]
    key = ".".join(filter(None, [group, *parts]))
    if error["type"] == "unexpected_keyword_argument" and key in ("arm", "experiment"):
        return (
            f"{key}: the first line of its file must be `# @package _global_`, and"
            " below it stand options such as `name: mine`"
        )
    if error["type"] == "unexpected_keyword_argument":
        return f"{key}: there is no such option"
    if error["type"] in (
        "missing",
        "missing_argument",
        "missing_keyword_only_argument",
    ):
        return f"{key}: must be given"
    words = error["msg"].removeprefix("Value error, ")
    value = hidden(error["input"], named=is_secret_name(key))
    place = f"{key}={value!r}: " if error["loc"] else f"{key}: " if key else ""
    return f"{place}{words[0].lower()}{words[1:]}"


def _undecodable() -> str:
    """Names the first file among the configurations that is not in UTF-8."""
    for element in GlobalHydra.instance().config_loader().get_search_path().get_path():
        folder = Path(element.path.removeprefix("file://"))
        for path in (
            sorted(folder.rglob("*.yaml")) if element.path.startswith("file://") else ()
        ):
            try:
                path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                return yaml_faults.not_utf_8(path)
            except OSError:
                continue
    return "a configuration is not a text in UTF-8; save it in this encoding"


def _first_line(error: Exception) -> str:
    """Returns the first line of the message of an error, or of its cause if it has
    none.
    """
    said = str(error).strip() or str(error.__cause__ or error.__context__ or "").strip()
    return said.split("\n")[0] or type(error).__name__
