"""Says in one sentence what is wrong with a YAML file: the file, the line, and what to
write.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from pddlego_local.core.errors import ConfigError

_REMEDIES = (  # the parser's words, and what helps
    ("mapping values are not allowed", "a text with a colon and a space needs quotes"),
    ("'\\t' that cannot start", "indent with spaces, not with tabs"),
    ("cannot start any token", "a text that begins with this character needs quotes"),
    ("undefined alias", "a text that begins with * needs quotes"),
    ("did not find expected alphabetic", "a text that begins with * or & needs quotes"),
    ("constructor for the tag", "a text that begins with ! needs quotes"),
    ("duplicate key", "name each key once"),
    ("unexpected end of stream", "close the quotes"),
    (
        "could not find expected ':'",
        "a key needs a colon and a space, and a longer text quotes",
    ),
    (
        "expected ',' or",
        "close the bracket, and quote a text with brackets, commas or braces",
    ),
    (
        "expected <block end>",
        "give all keys of a mapping one indentation, and quote whole values",
    ),
    ("special characters", "remove the control character"),
)
_OTHERWISE = "quote each text with any of : # { } [ ] , & * ! | > % @ in it"


def load(text: str, place: object) -> Any:
    """Returns the content of a YAML text. Raises ConfigError that names `place`, a
    file.
    """
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(fault_of(error, place, text)) from error


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


def fault_of(
    error: yaml.YAMLError, place: object = None, text: str | None = None
) -> str:
    """Returns the sentence. The file is `place`, or the one that the parser names,
    whose text is then read again.
    """
    marks = [getattr(error, name, None) for name in ("problem_mark", "context_mark")]
    begins = "quoted" in str(error) or "parsing a flow" in str(
        error
    )  # and does not end
    mark = (marks[1] if begins else None) or marks[0] or marks[1]
    file = place or getattr(mark or error, "name", None) or "a YAML file"
    problem = (
        getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    )
    problem = " ".join(f"{getattr(error, 'context', None) or ''} {problem}".split())
    remedy = next(
        (remedy for words, remedy in _REMEDIES if words in problem), _OTHERWISE
    )
    said = f"this is not YAML ({problem}); {remedy}"
    if mark is None:
        return f"{file}: {said}"
    proposal = (
        _quoted(_line(file, text, mark.line)) if remedy.endswith("needs quotes") else ""
    )
    return f"{file}, line {mark.line + 1}: {said}{proposal}"


def _line(file: object, text: str | None, number: int) -> str:
    try:
        lines = (
            Path(str(file)).read_text("utf-8") if text is None else text
        ).splitlines()
        return lines[number]
    except (OSError, ValueError, IndexError):
        return ""


def _quoted(line: str) -> str:
    """Returns the line with its value in quotes, as a proposal; "" if it has none to
    quote.
    """
    found = re.fullmatch(
        r"\s*(?P<key>(?:- )?[\w.]+: +)(?P<value>[^\s\"'\[{|>#].*?)\s*", line
    )
    if not found:
        return ""
    value = found["value"].replace("\\", "\\\\").replace('"', '\\"')
    return f', as in {found["key"]}"{value}"'
