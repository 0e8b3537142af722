"""run.json: what a cell's folder is a record of, and each time that it was begun or continued."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import FORMAT, object_of
from pddlego_local.core.nouns import Budget
from pddlego_local.core.outcomes import Outcome, declare

MOST_EPISODES = 1_000_000
"""Of a cell: a slip of the finger would else fill the memory before it is noticed."""


def parse_games(text: object) -> tuple[int, ...]:
    """From "0-2,7" to (0, 1, 2, 7); raises ValueError on anything else, and for more than
    `MOST_EPISODES`."""
    ranges: list[range] = []
    for part in str(text).strip("[] ").split(","):
        match = re.fullmatch(r"\s*([0-9]{1,30})(?:\s*-\s*([0-9]{1,30}))?\s*", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise ValueError("write seeds and ranges of seeds, such as '0-59' or '3,7-9'")
        ranges.append(range(int(match[1]), int(match[2] or match[1]) + 1))
    if sum(games.stop - games.start for games in ranges) > MOST_EPISODES:
        raise ValueError(f"a cell has at most {MOST_EPISODES:,} games; name fewer")
    return tuple(dict.fromkeys(itertools.chain(*ranges)))


class _Labels(TypedDict):
    environment: str
    method: str
    model: str
    decoding: str


class _Environment(TypedDict):
    budget: Budget


class _Identity(TypedDict):
    environment: _Environment
    seed: int


class _Config(TypedDict):
    games: str | int | list[int]
    trials: Annotated[int, Field(ge=1, le=MOST_EPISODES)]


_if_known = Field(exclude_if=lambda value: value is None)  # else not written


def _with(keys: Any) -> AfterValidator:
    """These keys must be there; the others are kept as they are."""
    adapter = pydantic.TypeAdapter(keys)

    def check(value: dict[str, Any]) -> dict[str, Any]:
        adapter.validate_python(value)
        return value

    return AfterValidator(check)


@dataclass(frozen=True, kw_only=True)
class Start:
    """One time that the cell was begun or continued: what may differ from the time before.

    `config` is the whole resolved configuration. `games_teach_each_other` says that trials of one
    game look at those of others: then games are not independent. `committed` is when the commit was
    made. `rows_before` are the rows found
    where run.json was gone.
    """

    config: Annotated[dict[str, Any], _with(_Config)]
    began: str = ""
    command: list[str] | None = None
    games_teach_each_other: bool = False
    backend_version: str | None = None
    servers: list[str] = field(default_factory=list)
    python: str | None = None
    packages: dict[str, Any] | None = None
    commit: str | None = None
    committed: Annotated[str | None, _if_known] = None
    dirty: bool | None = None
    machine: dict[str, Any] | None = None
    rows_before: Annotated[int | None, _if_known] = None

    @property
    def episodes(self) -> set[tuple[int, int]]:
        """(game, trial) of each episode that was asked for. Raises ValueError."""
        games = parse_games(self.config["games"])
        return {(game, trial) for game in games for trial in range(self.config["trials"])}


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What is the same whenever the cell is begun, and its `starts`.

    `labels` are the names of the YAML files that were chosen. `identity` holds the options that
    change results, `environment` the environment's own name, `model` what the backend says of its
    weights. `games` are there if what is learnt depends on which games are played, `outcomes` if
    the environment or the method brings some of its own.
    """

    labels: Annotated[dict[str, str], _with(_Labels)]
    identity: Annotated[dict[str, Any], _with(_Identity)]
    task_groups: dict[str, list[str]]
    starts: Annotated[list[Start], Field(min_length=1)]
    cell: str = ""
    environment: str = ""
    model: dict[str, Any] = field(default_factory=dict)
    grammar_sha256: dict[str, str | None] | None = None
    tables_sha256: str | None = None
    prompt_sha256: str | None = None
    games: Annotated[list[int] | None, _if_known] = None
    outcomes: Annotated[dict[str, Outcome] | None, _if_known] = None


RUN = pydantic.TypeAdapter(RunRecord)
"""Reads and writes run.json, but for its format."""


def read_run(cell: Path) -> RunRecord:
    """run.json of a cell's folder. Raises ConfigError if it has another format, or is none."""
    path = cell / "run.json"
    try:
        found = object_of(path)
        if (recorded_format := found.get("format", 1)) != FORMAT:
            raise ConfigError(_other_format(path, recorded_format, found))
        run = _run_of(found)
    except (OSError, ValueError) as error:
        first = " ".join(str(error).split())
        raise ConfigError(f"{path} is not a record of ours ({first:.300}); move it away") from error
    declare(run.outcomes or {})
    return run


def _run_of(found: Mapping[str, Any]) -> RunRecord:
    """Raises ValueError."""
    run = RUN.validate_python(found)
    for start in run.starts:
        _ = start.episodes
    return run


def check_readable(written: Mapping[str, Any]) -> None:
    """Raises ConfigError naming what in a run.json would not be read back as it is written."""
    try:
        back = json.loads(json.dumps(written))
        _run_of(back)
        told = [key for key in written if back[key] != written[key]]
    except pydantic.ValidationError as error:
        told = list(_places(error))
    except (TypeError, ValueError) as error:
        told = [str(error)]
    if told:
        raise ConfigError(f"a record of this cell could not be read back: {'; '.join(told)}")


def _places(error: pydantic.ValidationError, before: str = "") -> Iterator[str]:
    """A sentence for each key at fault, as the configuration names it."""
    for one in error.errors():
        key = before + ".".join(map(str, one["loc"]))
        inner = one.get("ctx", {}).get("error")
        if isinstance(inner, pydantic.ValidationError):
            yield from _places(inner, f"{key}.")
        else:
            option = re.sub(r"^(identity|starts\.\d+\.config)\.", "", key)
            yield f"{option}: {'must be given' if one['type'] == 'missing' else one['msg']}"


def _other_format(path: Path, recorded: object, found: Mapping[str, Any]) -> str:
    starts = found.get("starts") or [{}]
    commit = starts[-1].get("commit") if isinstance(starts[-1], dict) else None
    written_by = f" (commit {commit!s:.12})" if commit else ""
    return (
        f"{path} is of format {recorded} and this version reads format {FORMAT}: use the version "
        f"that wrote it{written_by}, or play again under another `name`"
    )
