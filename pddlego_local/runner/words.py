"""Writes the words of a command line, and the values of a program, as Hydra needs
them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.override_parser.types import Quote, QuotedString

from pddlego_local.core.errors import ConfigError
from pddlego_local.runner.overrides import CHOSEN, at, default_tree

_MAPPING = re.compile(r"([A-Za-z_][\w.]*)=\{")
_QUOTED = r"""(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_HOME = re.compile(
    _QUOTED + r"""|(?P<before>^|[,\[(]\s*)(?P<path>~[^,\[\](){}'"]*)""", re.DOTALL
)


def quote_games(overrides: Sequence[str]) -> list[str]:
    """Returns the overrides with the value of `games` quoted, because Hydra reads a
    bare comma as a sweep.

    games=0-9,17 and games=[0,3] become games="0-9,17" and games="[0,3]". A backslash
    before an interpolation is kept.
    """

    def quoted(match: re.Match[str]) -> str:
        bare = re.sub(r"""["']|\\(?!\\*\$)""", "", match[2])
        return f'{match[1]}"{bare}"'

    return [
        re.sub(r"(?s)\A(\+{0,2}games=)(.*)", quoted, override) for override in overrides
    ]


def as_meant(overrides: Sequence[str], config_loader: Any) -> list[str]:
    """Returns the overrides as Hydra needs them: choices with the names of their files
    (lama_first for lama-first), paths that begin with "~" in quotes, and mappings that
    may get new keys with "++". `quote_games` comes first. Hydra must be set up.
    """
    named = [
        _with_our_names(_home_in_quotes(word), config_loader) for word in overrides
    ]
    if not any(map(_MAPPING.match, named)):
        return named
    known = default_tree(named)
    return [f"++{word}" if _is_open(word, known) else word for word in named]


def _home_in_quotes(word: str) -> str:
    """Quotes each value that begins with "~", which Hydra would not parse. The home
    folder is put in its place later, as in values that the user quoted
    (`runner.values.at_home`).
    """
    key, equals, value = word.partition("=")

    def quoted(match: re.Match[str]) -> str:
        path = match["path"]
        written = (
            path and match["before"] + QuotedString(path, Quote.double).with_quotes()
        )
        return written or match["quoted"]

    return f"{key}{equals}{_HOME.sub(quoted, value)}"


def _with_our_names(word: str, config_loader: Any) -> str:
    """Replaces choices that differ from a known one only in letter case, "-", "_" and
    ".".
    """
    group, equals, value = word.partition("=")
    if group not in CHOSEN or not re.fullmatch(r"[\w./+,-]+", value):
        return word
    choices = (_our_name(group, one, config_loader) for one in value.split(","))
    return f"{group}{equals}{','.join(choices)}"


def _our_name(group: str, choice: str, config_loader: Any) -> str:
    folder, slash, name = choice.rpartition("/")
    known = config_loader.get_group_options(f"{group}{slash}{folder}")
    same = [one for one in known if _squeezed(one) == _squeezed(name)]
    return (
        f"{folder}{slash}{same[0]}" if len(same) == 1 and name not in known else choice
    )


def _squeezed(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower())


def _is_open(word: str, known: Mapping[str, Any]) -> bool:
    """Returns whether the word sets a mapping that is empty in conf/, so that its keys
    are free.
    """
    match = _MAPPING.match(word)
    return bool(match) and at(known, match[1] if match else "") == {}


def as_override(key: str, value: object) -> str:
    """Returns the override that sets an option to just this value, which comes from a
    program and not from a command line: Hydra neither splits nor interpolates any text
    in it.

    Raises ConfigError for a key or a value that cannot be written as an override.
    """
    if not re.fullmatch(r"\w+(\.\w+)*", key):
        raise ConfigError(
            f"{key!r:.80}: this is not the name of an option, such as games"
        )
    # `conf` does not list the keys of all mappings, so a mapping may add some.
    adds = "++" if isinstance(value, Mapping) else ""
    return f"{adds}{key}={_written(key, value)}"


def _written(key: str, value: object) -> str:
    """Returns a value in Hydra's grammar."""
    if value is None:
        return "null"
    if isinstance(value, bool | int | float):
        return repr(value).lower()
    if isinstance(value, Mapping):
        if unfit := [
            name for name in map(str, value) if not re.fullmatch(r"[\w./-]+", name)
        ]:
            raise ConfigError(
                f"{key}: a key has letters, digits and _ . / - only, not {unfit[0]!r}"
            )
        entries = (f"{name}:{_written(key, inner)}" for name, inner in value.items())
        return f"{{{','.join(entries)}}}"
    if isinstance(value, list | tuple | range):
        return f"[{','.join(_written(key, inner) for inner in value)}]"
    return QuotedString(_escaped(str(value)), Quote.double).with_quotes()


def _escaped(text: str) -> str:
    """Returns the text that OmegaConf reads as `text`, without interpolating it."""
    return re.sub(r"(\\*)\$\{", r"\1\1\\${", text)
