"""eval.json: what an evaluation plays of which suite, and which cells hold it."""

from dataclasses import field
from pathlib import Path
from typing import Any

import pydantic
from pydantic import ConfigDict

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import object_of
from pddlego_local.core.record.folder import recording, write_json
from pddlego_local.core.record.run_record import parse_games
from pddlego_local.core.visible import in_one_line

RECORD = "eval.json"
_STRICT = ConfigDict(extra="forbid")


@pydantic.dataclasses.dataclass(config=_STRICT, frozen=True, kw_only=True)
class Played:
    """The games of one part and arm, and the folder's name of their cell; `why` says
    why they are not played, and is "" if they are.
    """

    part: str
    arm: str
    games: str
    cell: str = ""
    why: str = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        return parse_games(self.games)


@pydantic.dataclasses.dataclass(config=_STRICT, frozen=True, kw_only=True)
class Entry:
    """The content of eval.json, in the folder of an evaluation: what is played of which
    suite by which model. `model` are the options of the model that change results,
    `quantization` is what its config.json says, and `canary` what a running server
    obeyed.
    """

    suite: int
    sha256: str
    size: str
    name: str
    thinking: bool
    model: dict[str, Any]
    quantization: str
    plays: list[Played]
    canary: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.name}, thinking" if self.thinking else self.name


_ENTRY = pydantic.TypeAdapter(Entry)


def read_entry(run: Path) -> Entry:
    """Reads the eval.json of a folder. Raises ConfigError if there is none, or none
    that is valid.
    """
    path = run / RECORD
    if not path.is_file():
        raise ConfigError(
            f"{run} is no evaluation: it has no {RECORD}. Play one with `pddlego eval"
            " MODEL`."
        )
    try:
        return _ENTRY.validate_python(object_of(path))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} is not valid ({in_one_line(error):.300}); move it away."
        ) from error


def write_entry(run: Path, entry: Entry) -> None:
    """Writes eval.json. Raises RecordFault if it cannot be written."""
    path = run / RECORD
    with recording(path):
        run.mkdir(parents=True, exist_ok=True)
    write_json(path, _ENTRY.dump_python(entry, mode="json"))
