"""The parts of a cell: builds them from their configuration, and says what they lack.

Each value gets the form in which its field reads it: `temperature=0` and `0.0`,
`rooms=5` and `5.0`, `doors=true` and `"yes"` are one value, and one cell. A whole
number of a field for real numbers is written without a point, unless it is the field's
default: a cell's name depends on this form.
"""

import dataclasses
import functools
import inspect
import pkgutil
import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from typing_extensions import get_protocol_members

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.protocols import Environment, LanguageModel, Planner
from pddlego_local.decoding.question import WholeAnswerModel
from pddlego_local.environments import family, own_pddl, tables
from pddlego_local.environments.base import BaseEnvironment
from pddlego_local.methods import Method, prompting
from pddlego_local.runner.clear_errors import clear_errors

_OF_HYDRA = ("_target_", "_convert_")

_PROTOCOLS: dict[str, type[Any]] = {
    "environment": Environment,
    "method": Method,
    "model": LanguageModel,
    "planner": Planner,
}


def build(tree: Mapping[str, Any], group: str) -> Any:
    """Builds the part that a group of a configuration describes.

    Raises ConfigError naming the unknown or impossible keys, and everything that the
    folder or the class of an environment or a method lacks.
    """
    if "_target_" not in tree[group]:
        raise ConfigError(
            f"{group}._target_: must be given; write a class, PACKAGE.CLASS"
        )
    faults = _folder_faults(tree) if group == "environment" else []
    try:
        with clear_errors(group):
            part = _built(tree[group])
    except ConfigError as error:
        # If a file cannot be loaded, `faults` may name it already.
        if not faults or "Error loc" not in str(error):
            faults += str(error).split("; ")
    else:
        faults += _lacking(part, group)
        if isinstance(part, BaseEnvironment):
            faults += _environment_faults(tree, part.package)
    if faults:
        raise ConfigError("; ".join(dict.fromkeys(faults)))
    return part


def _built(node: Any) -> Any:
    """Calls the `_target_` of a part with its values, those of parts within it first.

    Hydra finds the target, and refuses dangerous ones. The values do not pass through
    Hydra again: they are resolved, and a text in them that looks like an interpolation
    is only text.
    """
    if isinstance(node, list):
        return [_built(inner) for inner in node]
    if not isinstance(node, Mapping):
        return node
    values = {key: _built(value) for key, value in node.items() if key not in _OF_HYDRA}
    if "_target_" not in node:
        return values
    target = node["_target_"]
    if not isinstance(target, str) or not re.fullmatch(r"\w+(\.\w+)*", target):
        raise ConfigError(
            f"_target_={target!r}: write the path of a class, PACKAGE.CLASS"
        )
    make = instantiate({"_target_": target, "_partial_": True})
    try:
        return make(**values)
    except InstantiationException:
        raise
    except Exception as error:
        raise InstantiationException(f"{target} cannot be built: {error!r}") from error


def _lacking(part: object, group: str) -> Iterator[str]:
    """Yields a sentence for each attribute of its protocol that a part does not
    have.
    """
    protocol = _PROTOCOLS.get(group)
    if protocol is None:
        return
    if group == "model" and not getattr(part, "decodes", True):
        protocol = WholeAnswerModel
    kind = f"{type(part).__module__}.{type(part).__qualname__}"
    reference = f"{protocol.__module__}.{protocol.__name__}"
    for name in sorted(get_protocol_members(protocol)):
        if inspect.getattr_static(part, name, part) is part:
            yield f"{kind} has no `{name}` (see {reference})"


def _folder_faults(tree: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each part that the environment's folder lacks. A class
    derived from BaseEnvironment needs no folder.
    """
    target = str(tree["environment"]["_target_"])
    kind = class_named(target)
    if isinstance(kind, type) and issubclass(kind, BaseEnvironment):
        return []
    package, _, _ = target.rpartition(".game.")
    if not package:
        raise ConfigError(
            f"environment._target_={target}: write PACKAGE.game.CLASS, or the path"
            " of a class that is derived from BaseEnvironment"
        )
    faults = _environment_faults(tree, package, *family.ALWAYS)
    return [*faults, *own_pddl.faults(package)]


def _environment_faults(
    tree: Mapping[str, Any], package: str, *needed_files: str
) -> list[str]:
    """Returns a sentence for each part that the folder lacks for this method and
    model.
    """
    files = [*needed_files]
    model = str(tree["model"].get("_target_"))
    if model.endswith(".ReferenceFormalizer"):
        files.append("reference.py")
    method = class_named(str(tree["method"].get("_target_")))
    prompts = getattr(method, "prompts", "")  # "" if it cannot be loaded
    return [
        *family.missing(package, *files),
        *tables.faults(package),
        *prompting.missing(str(prompts), package),
    ]


def class_named(target: str) -> object:
    """Returns the class, None if it cannot be loaded, which `build` reports."""
    try:
        return pkgutil.resolve_name(target)
    except Exception:  # a module can raise anything on import
        return None


def defaults_of_later(target: str) -> dict[str, Any]:
    """Returns the defaults of those options of a class that were added after its cells
    had been recorded (`methods.added`).
    """
    kind = class_named(target)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return {}
    fields = dataclasses.fields(kind)
    return {field.name: field.default for field in fields if "later" in field.metadata}


def as_fields_read(part: Any) -> Any:
    """Returns the configuration of a part, a mapping with a `_target_`, with its values
    as the fields of the class read them. What a field refuses, and what has no type,
    stays as it is. A class with `settled` then fills in what its files say.
    """
    if not isinstance(part, Mapping):
        return part
    fields = _fields(str(part.get("_target_")))
    read = dict(part)
    for key in fields.keys() & part.keys():
        kind, default = fields[key]
        read[key] = _as_read(part[key], kind, default)
    settled = getattr(class_named(str(part.get("_target_"))), "settled", None)
    return settled(read) if settled else read


@functools.cache
def _fields(target: str) -> dict[str, tuple["pydantic.TypeAdapter[Any]", object]]:
    """Returns the type and the default of each argument of a class; those without a
    type that pydantic knows are left out.
    """
    try:
        kind = pkgutil.resolve_name(target)
        parameters = inspect.signature(kind).parameters
        has_fields = hasattr(kind, "__dataclass_fields__") or hasattr(
            kind, "__pydantic_fields__"
        )
        typed = kind if has_fields else kind.__init__
        hints = typing.get_type_hints(typed, include_extras=True)
    except Exception:  # a module can raise anything on import; `build` reports it
        return {}
    found = {}
    for name in parameters.keys() & hints.keys():
        try:
            kind_of_value = pydantic.TypeAdapter(hints[name])
        except Exception:  # pydantic has many errors for types that it does not know
            continue
        found[name] = (kind_of_value, parameters[name].default)
    return found


def _as_read(value: Any, kind: "pydantic.TypeAdapter[Any]", default: object) -> Any:
    try:
        validated = kind.validate_python(value)
        read = kind.dump_python(validated, mode="json", warnings=False)
    except Exception:  # the field refuses the value; building the part says why
        return value
    return _in_place_of(value, read, default)


def _in_place_of(value: Any, read: Any, default: object = None) -> Any:
    """Returns `value` with the numbers and truth values of `read`."""
    if isinstance(value, Mapping) and isinstance(read, Mapping):
        replaced = {}
        for key, inner in value.items():
            replaced[key] = _in_place_of(inner, read.get(key, inner))
        return replaced
    if isinstance(value, list) and isinstance(read, list):
        same_length = len(value) == len(read)
        return list(map(_in_place_of, value, read)) if same_length else value
    if not isinstance(value, str | int | float):
        return value
    if not isinstance(read, int | float):
        return value
    if isinstance(read, float) and read.is_integer() and read != default:
        return int(read)
    is_default = type(default) is type(read) and default == read
    return default if is_default else read
