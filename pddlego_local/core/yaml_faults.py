"""Says in one sentence what is wrong with a YAML file: the file, the line, and what to
write.
"""

from pathlib import Path
from typing import Any

import yaml

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.visible import in_one_line

_REMEDIES = {
    "mapping values are not allowed": "a text with a colon and a space needs quotes",
    "'\\t' that cannot start": "indent with spaces, not with tabs",
    "cannot start any token": "a text that begins with this character needs quotes",
    "undefined alias": "a text that begins with * needs quotes",
    "did not find expected alphabetic": "a text that begins with * or & needs quotes",
    "constructor for the tag": "a text that begins with ! needs quotes",
    "duplicate key": "name each key once",
    "unexpected end of stream": "close the quotes",
    "could not find expected ':'": (
        "a key needs a colon and a space, and a longer text quotes"
    ),
    "expected ',' or": (
        "close the bracket, and quote a text with brackets, commas or braces"
    ),
    "expected <block end>": (
        "give all keys of a mapping one indentation, and quote whole values"
    ),
    "special characters": "remove the control character",
}
"""The remedy for a message of the parser that contains these words."""

_OTHERWISE = "quote each text with any of : # { } [ ] , & * ! | > % @ in it"


def load(text: str, place: object) -> Any:
    """Returns the content of a YAML text. Raises ConfigError that names `place`, a
    file.
    """
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(fault_of(error, place)) from error


def read(path: Path) -> Any:
    """Returns the content of a YAML file. Raises ConfigError that names the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(not_utf_8(path)) from error
    return load(text, path)


def not_utf_8(path: Path) -> str:
    return f"{path} is not a text in UTF-8; save it in this encoding"


def fault_of(error: yaml.YAMLError, place: object = None) -> str:
    """Returns the sentence. The file is `place`, or the one that the parser names."""
    context = getattr(error, "context", None) or ""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    words = in_one_line(f"{context} {problem or error}")
    remedies = [remedy for part, remedy in _REMEDIES.items() if part in words]
    remedy = remedies[0] if remedies else _OTHERWISE
    mark = _mark_of(error)
    named = getattr(mark or error, "name", None)
    where = str(place or named or "a YAML file")
    if mark is not None:
        where += f", line {mark.line + 1}"
    return f"{where}: this is not YAML ({words}); {remedy}"


def _mark_of(error: yaml.YAMLError) -> Any:
    """Returns the parser's mark: for quotes or brackets that do not end, where they
    begin; else where the parser stopped.
    """
    stopped = getattr(error, "problem_mark", None)
    begun = getattr(error, "context_mark", None)
    if "quoted" in str(error) or "parsing a flow" in str(error):
        return begun or stopped
    return stopped or begun
