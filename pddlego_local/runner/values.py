"""Gives each value of a configuration the form in which its field reads it.

So `temperature=0` and `0.0`, `rooms=5` and `5.0`, `doors=true` and `"yes"` are one
value, and one cell. A whole number of a field for real numbers is written without a
point, unless it is the field's default: a cell's name depends on this form.
"""

import functools
import inspect
import os.path
import pkgutil
import re
import typing
from collections.abc import Mapping
from typing import Any

import pydantic

_HOME = re.compile(r"~[\w.-]*/")


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


def as_fields_read(part: Any) -> Any:
    """Returns the configuration of a part, a mapping with a `_target_`, with its values
    as the fields of the class read them. What a field refuses, and what has no type,
    stays as it is.
    """
    if not isinstance(part, Mapping):
        return part
    fields = _fields(str(part.get("_target_")))
    return {
        key: _as_read(value, *fields[key]) if key in fields else value
        for key, value in part.items()
    }


@functools.cache
def _fields(target: str) -> dict[str, tuple["pydantic.TypeAdapter[Any]", object]]:
    """Returns the type and the default of each argument of a class; those without a
    type that pydantic knows are left out.
    """
    try:
        kind = pkgutil.resolve_name(target)
        parameters = inspect.signature(kind).parameters
        typed = (
            kind if any(hasattr(kind, name) for name in _DATACLASS) else kind.__init__
        )
        hints = typing.get_type_hints(typed, include_extras=True)
    except (
        Exception
    ):  # a module can raise anything on import; building the part reports it
        return {}
    found = {}
    for name in parameters.keys() & hints.keys():
        try:
            found[name] = (pydantic.TypeAdapter(hints[name]), parameters[name].default)
        except Exception:  # pydantic has many errors for types that it does not know
            continue
    return found


_DATACLASS = ("__dataclass_fields__", "__pydantic_fields__")


def _as_read(value: Any, kind: "pydantic.TypeAdapter[Any]", default: object) -> Any:
    try:
        read = kind.dump_python(
            kind.validate_python(value), mode="json", warnings=False
        )
    except Exception:  # the field refuses the value; building the part says why
        return value
    return _in_place_of(value, read, default)


def _in_place_of(value: Any, read: Any, default: object = None) -> Any:
    """Returns `value` with the numbers and truth values of `read`."""
    if isinstance(value, Mapping) and isinstance(read, Mapping):
        return {
            key: _in_place_of(one, read.get(key, one)) for key, one in value.items()
        }
    if isinstance(value, list) and isinstance(read, list) and len(value) == len(read):
        return [_in_place_of(one, its) for one, its in zip(value, read, strict=True)]
    scalar = isinstance(value, str | int | float) and isinstance(read, int | float)
    if not scalar:
        return value
    if isinstance(read, float) and read.is_integer() and read != default:
        return int(read)
    return default if type(default) is type(read) and default == read else read
