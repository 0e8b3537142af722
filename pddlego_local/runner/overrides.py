"""Reads the overrides of a command line. An override that Hydra cannot parse or does
not know is reported in one sentence that names the option and suggests the nearest
known one.
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
from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    MissingConfigException,
)
from omegaconf import OmegaConf

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nearest import did_you_mean, nearest
from pddlego_local.core.secrets import hidden_in_word

GROUPS = ("environment", "method", "model", "decoding", "planner")
CHOSEN = (*GROUPS, "arm", "experiment")


def at(tree: object, key: str) -> object:
    """Returns the value of a dotted key; None if there is none."""
    for part in key.split("."):
        tree = tree.get(part) if isinstance(tree, Mapping) else None
    return tree


def read_override(text: str, config_loader: Any = None) -> Override:
    """Parses one override with Hydra's parser. Raises ConfigError if Hydra cannot parse
    it.
    """
    key, equals, value = text.partition("=")
    if not key or not (equals or key.startswith("~")):
        raise ConfigError(
            f"{text}: this is not an override; write OPTION=VALUE, such as seed=1"
        )
    try:
        override = OverridesParser.create().parse_override(text)
    except HydraException as error:
        shown, reason = (
            hidden_in_word(text),
            ". ".join(str(error).split("\n")).strip(". "),
        )
        raise ConfigError(
            f"{shown}: Hydra cannot parse this value ({reason}); if it is a string,"
            f" quote it: {_quoted(key, value)}"
        ) from error
    override.config_loader = config_loader
    return override


@functools.lru_cache(
    maxsize=10_000
)  # the cells of a sweep share most of their overrides
def refuse_sweep(text: str) -> None:
    """Raises ConfigError for an override with several values, where one value is
    required.
    """
    override, (key, _, value) = read_override(text), text.partition("=")
    if key in CHOSEN and isinstance(override.value(), list):
        raise ConfigError(
            f"{text}: choose one; several need -m, and commas without brackets"
        )
    if override.is_sweep_override():
        raise ConfigError(
            f"{hidden_in_word(text)}: several values are a sweep, which needs -m; if it"
            f" is one string, quote it: {_quoted(key, value)}"
        )


def _quoted(key: str, value: str) -> str:
    """Returns the override with a value that Hydra reads as one string, quoted for a
    shell.
    """
    return shlex.quote(hidden_in_word(f"{key}={json.dumps(value, ensure_ascii=False)}"))


def hold_back_options(overrides: Sequence[str]) -> list[str]:
    """Turns options of groups that vary within a sweep into sweeps over their one
    value.

    A group varies if it has several choices or is set by the arms. Hydra composes a
    sweep's own configuration without the overrides that have several values. So it
    would look for an option of decoding=typed,grounded in the default choice.
    """
    read = {text: read_override(text) for text in overrides}
    several = {
        one.get_key_element() for one in read.values() if one.is_sweep_override()
    }
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
        raise ConfigError(
            f"{text}: this sweep has no values; nothing matches its pattern or range"
        )
    return list(dict.fromkeys(f"{key}={value}" for value in values))


@contextlib.contextmanager
def known_options(overrides: Sequence[str]) -> Iterator[None]:
    """Turns Hydra's error about an unknown option or choice within the block into a
    ConfigError that names the nearest known one.
    """
    try:
        yield
    except MissingConfigException as error:
        if not error.options or not error.missing_cfg_file:
            raise
        raise ConfigError(
            _unknown_choice(error.missing_cfg_file, error.options)
        ) from error
    except ConfigCompositionException as error:
        unknown = re.match(r"Could not override '([^']+)'", str(error))
        if not unknown:
            raise
        within = getattr(error.__cause__, "full_key", None) or ""
        key = within if within.startswith(f"{unknown[1]}.") else unknown[1]
        raise ConfigError(
            f"there is no option {key!r}{_meant(key, overrides)}"
        ) from error


def _unknown_choice(file: str, options: Sequence[str]) -> str:
    """Returns the message; `file` is the requested configuration, such as
    "method/PDDLego+".
    """
    group, _, name = file.partition("/")
    if group == "hydra":
        group, _, name = file.rpartition("/")
    end = did_you_mean(name, options)
    if group == "model" and ("/" in name or Path(name).suffix == ".gguf"):
        own = nearest(Path(name).name, options)
        end = f"; for your own weights write model=vllm model.weights={name}"
        end += f", and model={own} has a configuration here." if own else "."
    return (
        f"{group}={name}: there is no such choice{end} The choices are"
        f" {', '.join(options)}"
    )


def _meant(key: str, overrides: Sequence[str]) -> str:
    """Suggests the option with the nearest name: one beside it, else one from any
    group. Lists the options beside it if none is near.
    """
    (above, _, name), tree = key.rpartition("."), default_tree(overrides)
    beside = at(tree, above) if above else None
    if beside == {}:
        return (
            f": the keys of {above} are free, and a new one is written with a plus,"
            f" +{key}=…"
        )
    beside = [str(one) for one in beside] if isinstance(beside, Mapping) else []
    if close := _nearest_or_longer(name, beside):
        return f"; did you mean {above}.{close}?"
    by_name = {one.rpartition(".")[2]: one for one in reversed(list(_keys(tree)))}
    if close := nearest(name, by_name):
        return f"; did you mean {by_name[close]}?"
    names = [one for one in beside if not one.startswith("_")]
    return f"; the options of {above} are {', '.join(names)}" if names else "."


def _nearest_or_longer(name: str, known: Sequence[str]) -> str:
    """Returns the nearest known name, else the only one that begins with `name`: cpu_s
    for cpu.
    """
    longer = [one for one in known if one.startswith(f"{name}_")]
    return nearest(name, known) or (longer[0] if len(longer) == 1 else "")


def default_tree(overrides: Sequence[str]) -> Mapping[str, Any]:
    """Returns the configuration of the chosen files, without the other overrides; {} if
    these cannot be composed.
    """
    one = re.compile(rf"({'|'.join(CHOSEN)})=[^,{{]*")
    chosen = [word for word in overrides if one.fullmatch(word)]
    with contextlib.suppress(HydraException):
        tree: Any = OmegaConf.to_container(compose("config", chosen), resolve=False)
        return {str(key): value for key, value in tree.items()}
    return {}


def _keys(tree: object, prefix: str = "") -> Iterator[str]:
    """Yields the dotted names of all keys of a configuration."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield f"{prefix}{key}"
            yield from _keys(value, f"{prefix}{key}.")
