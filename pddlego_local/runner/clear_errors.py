"""Turns errors of Hydra and pydantic about a bad value into one sentence that names the key."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pydantic
from hydra.errors import HydraException, InstantiationException
from omegaconf.errors import OmegaConfBaseException

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.secrets import hidden, is_secret_name

_JSON = ("dict", "list", "float", "[key]")  # pydantic adds these to the path of a JSON value


@contextlib.contextmanager
def clear_errors(group: str) -> Iterator[None]:
    """Turns errors of pydantic and Hydra about a value of a group ("" for none) into a ConfigError
    with one sentence that names the key."""
    try:
        yield
    except Exception as error:
        building = isinstance(error, InstantiationException)
        cause = error.__cause__ if building else error
        if isinstance(cause, ImportError) and isinstance(cause.__cause__, ConfigError):
            cause = cause.__cause__  # from a module that reads files on import
        if isinstance(cause, ConfigError):
            raise cause from cause.__cause__
        if isinstance(cause, pydantic.ValidationError):
            message = "; ".join(_sentence(group, e) for e in cause.errors())
        elif building and isinstance(cause, TypeError | ValueError | ImportError):
            message = f"{group}: {' '.join(str(cause).split())}"
        elif isinstance(error, OmegaConfBaseException):
            message = ": ".join(filter(None, [error.full_key, _first_line(error)]))
        elif isinstance(error, HydraException | ValueError) and not building:
            message = _first_line(error)
        else:
            raise
        raise ConfigError(message) from error


def _sentence(group: str, error: Any) -> str:
    """Returns pydantic's error about one value as a sentence."""
    parts = [part for part in map(str, error["loc"]) if part not in _JSON]
    key = ".".join(filter(None, [group, *parts]))
    if error["type"] == "unexpected_keyword_argument":
        return f"{key}: there is no such option"
    if error["type"] in ("missing", "missing_argument", "missing_keyword_only_argument"):
        return f"{key}: must be given"
    words = error["msg"].removeprefix("Value error, ")
    value = hidden(error["input"], named=is_secret_name(key))
    place = f"{key}={value!r}: " if error["loc"] else f"{key}: " if key else ""
    return f"{place}{words[0].lower()}{words[1:]}"


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
