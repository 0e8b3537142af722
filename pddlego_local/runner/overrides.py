"""Reads and writes the overrides of a command line, as Hydra needs them.

`as_meant` turns the words that people type into overrides that Hydra can read.
`as_override` writes a value of a program. An override that Hydra cannot parse or does
not know is reported in one sentence that names the option and suggests the nearest
known one.
"""

import contextlib
import functools
import itertools
import json
import os.path
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Quote, QuotedString
from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    MissingConfigException,
)
from omegaconf import OmegaConf

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nearest import nearest
from pddlego_local.core.secrets import hidden_in_word

GROUPS = ("environment", "method", "model", "decoding", "planner")
CHOSEN = (*GROUPS, "arm", "experiment")

_CHOICE = re.compile(rf"({'|'.join(CHOSEN)})=[^,{{]*")
_MAPPING = re.compile(r"([A-Za-z_][\w.]*)=\{")
_HOME = re.compile(r"~[\w.-]*/")
# A text in quotes, or a value that begins with "~".
_QUOTED_OR_HOME = re.compile(
    r"""(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<before>^|[,\[(]\s*)(?P<path>~[^,\[\](){}'"]+)""",
    re.DOTALL,
)


def as_meant(overrides: Sequence[str]) -> list[str]:
    """Returns the overrides as Hydra needs them: with quotes around the value of
    `games`, in which Hydra would read a comma as a sweep, and around paths that begin
    with "~", which Hydra would not parse.

    games=0-9,17 and games=[0,3] become games="0-9,17" and games="[0,3]". A backslash
    before an interpolation is kept. A mapping whose keys are free may get new ones,
    which Hydra writes with "++". Hydra must be set up.
    """
    words = []
    for override in overrides:
        key, equals, value = override.partition("=")
        if key.lstrip("+") == "games" and equals:
            bare = re.sub(r"""["']|\\(?!\\*\$)""", "", value)
            words.append(f'{key}="{bare}"')
        else:
            quoted = _QUOTED_OR_HOME.sub(_quoted_home, value)
            words.append(f"{key}{equals}{quoted}")
    if not any(_MAPPING.match(word) for word in words):
        return words
    known = default_tree(words)
    for place, word in enumerate(words):
        if _sets_free_keys(word, known):
            words[place] = f"++{word}"
    return words


def _sets_free_keys(word: str, known: Mapping[str, Any]) -> bool:
    """Returns whether the word sets a mapping that is empty in conf/: such a mapping
    has keys of the user's own.
    """
    mapping = _MAPPING.match(word)
    if not mapping:
        return False
    return at(known, mapping[1]) == {}


def _quoted_home(match: re.Match[str]) -> str:
    """Quotes a path that begins with "~". `at_home` replaces this beginning later, as
    in values that the user quoted.
    """
    if match["quoted"]:
        return match["quoted"]
    path = QuotedString(match["path"], Quote.double)
    return match["before"] + path.with_quotes()


def at_home(tree: Any) -> Any:
    """Returns a JSON value with the home folder in place of `~/` at the beginning of
    its texts.
    """
    if isinstance(tree, Mapping):
        return {key: at_home(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [at_home(value) for value in tree]
    if isinstance(tree, str) and _HOME.match(tree):
        return os.path.expanduser(tree)  # noqa: PTH111 - a path would lose a "/" at the end
    return tree


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
        entries = []
        for name, each in value.items():
            if not re.fullmatch(r"[\w./-]+", str(name)):
                raise ConfigError(
                    f"{key}: a key has letters, digits and _ . / - only, not"
                    f" {str(name)!r}"
                )
            entries.append(f"{name}:{_written(key, each)}")
        return f"{{{','.join(entries)}}}"
    if isinstance(value, list | tuple | range):
        inner = [_written(key, each) for each in value]
        return f"[{','.join(inner)}]"
    # OmegaConf reads "\${" as a text, and would interpolate "${".
    escaped = re.sub(r"(\\*)\$\{", r"\1\1\\${", str(value))
    return QuotedString(escaped, Quote.double).with_quotes()


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
        reason = str(error).replace("\n", ". ").strip(". ")
        raise ConfigError(
            f"{hidden_in_word(text)}: Hydra cannot parse this value ({reason}); if it"
            f" is a string, quote it: {_quoted(key, value)}"
        ) from error
    override.config_loader = config_loader
    return override


@functools.lru_cache(maxsize=10_000)
def refuse_sweep(text: str) -> None:
    """Raises ConfigError for an override with several values, where one value is
    required. The cells of a sweep share most of their overrides.
    """
    override = read_override(text)
    key, _, value = text.partition("=")
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
    as_string = json.dumps(value, ensure_ascii=False)
    return shlex.quote(hidden_in_word(f"{key}={as_string}"))


def hold_back_options(overrides: Sequence[str]) -> list[str]:
    """Turns options of groups that vary within a sweep into sweeps over their one
    value.

    A group varies if it has several choices or is set by the arms. Hydra composes a
    sweep's own configuration without the overrides that have several values. So it
    would look for an option of decoding=typed,grounded in the default choice.
    """
    swept = {
        override.get_key_element()
        for override in map(read_override, overrides)
        if override.is_sweep_override()
    }
    varied = set(GROUPS) if "arm" in swept else swept.intersection(GROUPS)
    held_back = []
    for text in overrides:
        key, equals, value = text.partition("=")
        group, dot, _ = key.lstrip("+").partition(".")
        is_option = dot and equals
        is_of_varied = is_option and group in varied
        if is_of_varied and not read_override(text).is_sweep_override():
            held_back.append(f"{key}=choice({value})")
        else:
            held_back.append(text)
    return held_back


def values_of(override: Override, most: int) -> list[str]:
    """Returns the values of a sweep's override, as overrides, `most` at most.

    Raises ConfigError for a sweep that does not list its values, and for an empty list.
    """
    text = str(override.input_line)
    key = override.get_key_element()
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
    each_once = dict.fromkeys(values)
    return [f"{key}={value}" for value in each_once]


@contextlib.contextmanager
def known_options(overrides: Sequence[str]) -> Iterator[None]:
    """Turns Hydra's error about an unknown option or choice within the block into a
    ConfigError that names the nearest known one.
    """
    try:
        yield
    except MissingConfigException as error:
        if not error.missing_cfg_file:
            raise
        message = _unknown_choice(error.missing_cfg_file)
        if not message:
            raise
        raise ConfigError(message) from error
    except ConfigCompositionException as error:
        unknown = re.match(r"Could not override '([^']+)'", str(error))
        if not unknown:
            raise
        key = unknown[1]
        within = getattr(error.__cause__, "full_key", None) or ""
        if within.startswith(f"{key}."):
            key = within
        end = suggestion(key, default_tree(overrides))
        raise ConfigError(f"there is no option {key!r}{end}") from error


def _unknown_choice(file: str) -> str:
    """Returns the message about the requested configuration `file`, such as
    "method/PDDLego+"; "" if its group has no choices.
    """
    group, _, name = file.partition("/")
    if group == "hydra":
        group, _, name = file.rpartition("/")
    options = choices_of(group)
    if not options:
        return ""
    by_stem = {Path(option).name: option for option in options}
    in_folder = by_stem.get(nearest(name, by_stem), "")
    close = nearest(name, options) or in_folder
    end = f"; did you mean {close}?" if close else "."
    is_path = "/" in name or Path(name).suffix == ".gguf"
    if group == "model" and is_path:
        end = f"; for your own weights write model=vllm model.weights={name}"
        shipped = nearest(Path(name).name, options)
        end += f", and model={shipped} has a configuration here." if shipped else "."
    return (
        f"{group}={name}: there is no such choice{end} The choices are"
        f" {', '.join(options)}"
    )


def choices_of(group: str) -> list[str]:
    """Returns the choices of a group, such as "start/smoke" for experiment, also those
    in a user's own folder. Hydra must be set up.
    """
    loader = GlobalHydra.instance().config_loader()
    files = loader.get_group_options(group)
    choices = [name for name in files if not name.startswith("_")]
    for folder in loader.get_group_options(group, ObjectType.GROUP):
        for choice in choices_of(f"{group}/{folder}"):
            choices.append(f"{folder}/{choice}")
    return choices


def suggestion(key: str, tree: Mapping[str, Any]) -> str:
    """Returns the end of the sentence about an unknown option. It suggests the option
    with the nearest name: one beside it, else one from any group. It lists the options
    beside it if none is near.
    """
    above, _, name = key.rpartition(".")
    beside = at(tree, above) if above else None
    if beside == {}:
        return (
            f": the keys of {above} are free, and a new one is written with a plus,"
            f" +{key}=…"
        )
    names = list(beside) if isinstance(beside, Mapping) else []
    if close := nearest(name, names):
        return f"; did you mean {above}.{close}?"
    by_name = dict[str, str]()
    for option in _options_in(tree):
        by_name.setdefault(option.rpartition(".")[2], option)
    if close := nearest(name, by_name):
        return f"; did you mean {by_name[close]}?"
    shown = [known for known in names if not known.startswith("_")]
    if not shown:
        return "."
    return f"; the options of {above} are {', '.join(shown)}"


def at(tree: object, key: str) -> object:
    """Returns the value of a dotted key; None if there is none."""
    for part in key.split("."):
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(part)
    return tree


def default_tree(overrides: Sequence[str]) -> Mapping[str, Any]:
    """Returns the configuration of the chosen files, without the other overrides; {} if
    these cannot be composed.
    """
    chosen = [word for word in overrides if _CHOICE.fullmatch(word)]
    with contextlib.suppress(HydraException):
        tree: Any = OmegaConf.to_container(compose("config", chosen), resolve=False)
        return {str(key): value for key, value in tree.items()}
    return {}


def _options_in(tree: object, prefix: str = "") -> Iterator[str]:
    """Yields the dotted names of all options of a configuration."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield f"{prefix}{key}"
            yield from _options_in(value, f"{prefix}{key}.")
