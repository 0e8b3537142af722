"""The version of what a record holds, and how one line of it is written and read back."""

import datetime
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import pydantic
from pydantic import AfterValidator, ConfigDict

from pddlego_local.core.errors import ConfigError

FORMAT = 3
"""The version of what is written here. Raise it with every change that an older reader, or this
one with an older record, would misread."""


@dataclass(frozen=True)
class Recorded:
    """What can be written to a record; keys that it does not have are refused on reading."""

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)


T = TypeVar("T")


def now() -> str:
    """Coordinated universal time in seconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def one_of(names: Collection[str]) -> AfterValidator:
    """Of a name in a table of `outcomes`: on reading, one that is not listed is refused."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"{name!r:.60} is no outcome or cause that this version knows")
        return name

    return AfterValidator(check)


def to_json(entry: Recorded) -> str:
    """One line, without its end."""
    return json.dumps(asdict(entry), ensure_ascii=False)


def object_of(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object. Raises OSError, and ValueError for any other content."""
    try:
        content = json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError("it is too deep") from error
    if not isinstance(content, dict):
        raise ValueError("it holds no JSON object")
    return content


def read_as(adapter: "pydantic.TypeAdapter[T]", line: str, place: str, what: str) -> T:
    """`line` as a `what`, such as "an event". Raises ConfigError, which names `place`."""
    try:
        return adapter.validate_json(line)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise ConfigError(f"{place} is not JSON: {first['msg']}") from error
        key, why = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        raise ConfigError(
            f"{place} is not {what} of format {FORMAT} ({key or 'the line'}: {why}); "
            "move the file away, or read it with the version that wrote it"
        ) from error
