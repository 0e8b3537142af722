"""Reads the overrides of a command line. An override that Hydra cannot parse or does not know is
reported in one sentence that names the option and suggests the nearest known one.
"""

import contextlib
import functools
import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException
from omegaconf import OmegaConf

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nearest import did_you_mean, nearest

GROUPS = ("environment", "method", "model", "decoding", "planner")
_CHOSEN = (*GROUPS, "arm", "experiment")


def quote_games(overrides: Sequence[str]) -> list[str]:
    """Returns the overrides with the value of `games` quoted, because Hydra reads a bare comma as a
    sweep.

    games=0-9,17 and games=[0,3] become games="0-9,17" and games="[0,3]".
    """

    def quoted(match: re.Match[str]) -> str:
        bare = re.sub(r"""["'\\]""", "", match[2])
        return f'{match[1]}"{bare}"'

    return [re.sub(r"(?s)\A(\+{0,2}games=)(.*)", quoted, override) for override in overrides]


def read_override(text: str, config_loader: Any = None) -> Override:
    """Parses one override with Hydra's parser. Raises ConfigError if Hydra cannot parse it."""
    key, equals, value = text.partition("=")
    if not key or not (equals or key.startswith("~")):
        raise ConfigError(f"{text}: this is not an override; write OPTION=VALUE, such as seed=1")
    try:
        override = OverridesParser.create().parse_override(text)
    except HydraException as error:
        reason = ". ".join(str(error).split("\n")).strip(". ")
        raise ConfigError(
            f"{text}: Hydra cannot parse this value ({reason}); if it is a string, quote it: "
            f"{_quoted(key, value)}"
        ) from error
    override.config_loader = config_loader
    return override


@functools.lru_cache(maxsize=10_000)  # the cells of a sweep share most of their overrides
def refuse_sweep(text: str) -> None:
    """Raises ConfigError for an override with several values, where one value is required."""
    override, (key, _, value) = read_override(text), text.partition("=")
    if key in _CHOSEN and isinstance(override.value(), list):
        raise ConfigError(f"{text}: choose one; several need -m, and commas without brackets")
    if override.is_sweep_override():
        raise ConfigError(
            f"{text}: several values are a sweep, which needs -m; if it is one string, quote it: "
            f"{_quoted(key, value)}"
        )


def _quoted(key: str, value: str) -> str:
    """Returns the override with a value that Hydra reads as one string, quoted for a shell."""
    return shlex.quote(f"{key}={json.dumps(value, ensure_ascii=False)}")


def hold_back_options(overrides: Sequence[str]) -> list[str]:
    """Turns options of groups that vary within a sweep into sweeps over their one value.

    A group varies if it has several choices or is set by the arms. Hydra composes a sweep's own
    configuration without the overrides that have several values. So it would look for
    decoding.lists=tight in the default choice although decoding=typed,grounded is requested.
    """
    read = {text: read_override(text) for text in overrides}
    several = {one.get_key_element() for one in read.values() if one.is_sweep_override()}
    varied = GROUPS if "arm" in several else several.intersection(GROUPS)

    def held(text: str) -> str:
        key, equals, value = text.partition("=")
        group, dot, _ = key.lstrip("+").partition(".")
        if group in varied and dot and equals and not read[text].is_sweep_override():
            return f"{key}=choice({value})"
        return text

    return [held(text) for text in overrides]


def values_of(override: Override, most: int) -> list[str]:
    """Returns the values of a sweep's override, as overrides, `most` at most.

    Raises ConfigError for a sweep that does not list its values, and for an empty list.
    """
    text, key = str(override.input_line), override.get_key_element()
    if not override.is_discrete_sweep():
        raise ConfigError(
            f"{text}: a sweep needs a list of values, which an interval does not give; "
            f"write {key}=range(START,STOP,STEP), or the values with commas"
        )
    try:
        values = list(itertools.islice(override.sweep_string_iterator(), most))
    except (HydraException, ValueError) as error:
        raise ConfigError(f"{text}: {error}") from error
    if not values:
        raise ConfigError(f"{text}: this sweep has no values; nothing matches its pattern or range")
    return list(dict.fromkeys(f"{key}={value}" for value in values))


@contextlib.contextmanager
def known_options(overrides: Sequence[str]) -> Iterator[None]:
    """Turns Hydra's error about an unknown option or choice within the block into a ConfigError
    that names the nearest known one."""
    try:
        yield
    except MissingConfigException as error:
        if not error.options or not error.missing_cfg_file:
            raise
        raise ConfigError(_unknown_choice(error.missing_cfg_file, error.options)) from error
    except ConfigCompositionException as error:
        unknown = re.match(r"Could not override '([^']+)'", str(error))
        if not unknown:
            raise
        key = unknown[1]
        raise ConfigError(f"there is no option {key!r}{_meant(key, overrides)}") from error


def _unknown_choice(file: str, options: Sequence[str]) -> str:
    """Returns the message; `file` is the requested configuration, such as "method/PDDLego+"."""
    group, _, name = file.partition("/")
    if group == "hydra":
        group, _, name = file.rpartition("/")
    end = did_you_mean(name, options)
    if group == "model" and ("/" in name or Path(name).suffix == ".gguf"):
        own = nearest(Path(name).name, options)
        end = f"; for your own weights write model=vllm model.weights={name}"
        end += f", and model={own} has a configuration here." if own else "."
    return f"{group}={name}: there is no such choice{end} The choices are {', '.join(options)}"


def _meant(key: str, overrides: Sequence[str]) -> str:
    """Suggests the option, from any group, with the nearest name."""
    chosen = [word for word in overrides if word.partition("=")[0] in _CHOSEN]
    known: list[str] = []
    with contextlib.suppress(HydraException):
        known = list(_keys(OmegaConf.to_container(compose("config", chosen), resolve=False)))
    by_name = {one.rpartition(".")[2]: one for one in reversed(known)}
    close = nearest(key.rpartition(".")[2], by_name)
    return f"; did you mean {by_name[close]}?" if close else "."


def _keys(tree: object, prefix: str = "") -> Iterator[str]:
    """Yields the dotted names of all keys of a configuration."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield f"{prefix}{key}"
            yield from _keys(value, f"{prefix}{key}.")
