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
from pddlego_local.core.visible import in_one_line

# Pydantic adds these to the path of a JSON value.
_OF_JSON = ("dict", "list", "float", "[key]")


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
        message: str | None
        if isinstance(cause, pydantic.ValidationError):
            sentences = [_sentence(group, fault) for fault in cause.errors()]
            message = "; ".join(sentences)
        elif building:
            message = _about_building(group, error, cause)
        else:
            message = _about_configuration(group, error)
        if not message:
            raise
        raise ConfigError(message) from error


def _sentence(group: str, fault: Any) -> str:
    """Returns pydantic's error about one value as a sentence."""
    path = [group, *map(str, fault["loc"])]
    key = ".".join(part for part in path if part and part not in _OF_JSON)
    kind = fault["type"]
    if kind == "unexpected_keyword_argument":
        if key not in ("arm", "experiment"):
            return f"{key}: there is no such option"
        return (
            f"{key}: the first line of its file must be `# @package _global_`, and"
            " below it stand options such as `name: mine`"
        )
    if kind.startswith("missing"):
        return f"{key}: must be given"
    words = fault["msg"].removeprefix("Value error, ")
    words = f"{words[0].lower()}{words[1:]}"
    if fault["loc"]:
        value = hidden(fault["input"], named=is_secret_name(key))
        return f"{key}={value!r}: {words}"
    return f"{key}: {words}" if key else words


def _about_building(
    group: str, error: Exception, cause: BaseException | None
) -> str | None:
    """Returns the sentence about a class that Hydra refuses (no cause), or that cannot
    be built; None for an error that is no mistake in the configuration.
    """
    if cause is not None and not isinstance(
        cause, TypeError | ValueError | ImportError
    ):
        return None
    return f"{group}: {in_one_line(cause or error)}"


def _about_configuration(group: str, error: Exception) -> str | None:
    """Returns the sentence about files and values that cannot be read or composed; None
    for other errors.
    """
    if isinstance(error, yaml.YAMLError):
        return yaml_faults.fault_of(error)
    if isinstance(error, UnicodeDecodeError):
        return _undecodable()
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror or error}"
    if isinstance(error, OmegaConfBaseException):
        line = _first_line(error)
        return f"{error.full_key}: {line}" if error.full_key else line
    context = error.__context__
    if isinstance(context, GrammarParseError):
        key = getattr(context, "full_key", None) or group or "a configuration"
        remedy = "write \\${ for a text that has ${ in it"
        return f"{key}: {_first_line(error)}; {remedy}"
    if isinstance(error, HydraException | ValueError):
        return _first_line(error)
    return None


def _undecodable() -> str:
    """Names the first file among the configurations that is not in UTF-8."""
    for element in GlobalHydra.instance().config_loader().get_search_path().get_path():
        scheme, _, folder = element.path.partition("file://")
        if scheme or not folder:
            continue
        for path in sorted(Path(folder).rglob("*.yaml")):
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
    message = str(error) or str(error.__cause__ or error.__context__ or "")
    first_line = message.strip().split("\n")[0]
    return first_line or type(error).__name__
