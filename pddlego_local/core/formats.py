"""The version of the record format, and how one line of a record is written and
read.
"""

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
"""The version of the record format. Raise it with every change after which an older
reader would misread a new record, or this reader an older record.
"""


@dataclass(frozen=True)
class Recorded:
    """Base class of everything that is written to a record. Reading rejects unknown
    keys.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)


T = TypeVar("T")


def now() -> str:
    """Returns the current time in UTC, in ISO 8601 and in whole seconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def one_of(names: Collection[str]) -> AfterValidator:
    """Returns a validator that rejects names which are not in `names`, a table of
    `outcomes`.
    """

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(
                f"{name!r:.60} is not an outcome or cause that this version knows"
            )
        return name

    return AfterValidator(check)


def to_json(entry: Recorded) -> str:
    """Returns `entry` as one line of JSON, without the line break."""
    return json.dumps(asdict(entry), ensure_ascii=False)


def object_of(path: Path) -> dict[str, Any]:
    """Reads a file that holds one JSON object. Raises OSError, and ValueError for other
    content.
    """
    try:
        content = json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(content, dict):
        raise ValueError("it does not hold a JSON object")
    return content


def read_as(adapter: "pydantic.TypeAdapter[T]", line: str, place: str, what: str) -> T:
    """Parses `line` as `what`, such as "an event". Raises ConfigError, which names
    `place`.
    """
    try:
        return adapter.validate_json(line)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise ConfigError(f"{place} is not JSON: {first['msg']}") from error
        key = ".".join(map(str, first["loc"])) or "the line"
        why = first["msg"].removeprefix("Value error, ")
        raise ConfigError(
            f"{place} is not {what} of format {FORMAT} ({key}: {why}); "
            "move the file away, or read it with the version that wrote it"
        ) from error
