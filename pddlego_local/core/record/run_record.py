"""run.json: what was run in a cell's folder, and each time that it was started or
continued.
"""

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
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
from pddlego_local.core.record.rows import GameTrial
from pddlego_local.core.secrets import hidden
from pddlego_local.core.visible import in_one_line

RENAMED: Mapping[str, Mapping[str, str]] = {
    "pddlego_local.methods.pddlego_plus.PddlegoPlus": {"max_retries": "rounds"},
}
"""The options of classes that had another name in earlier records, and their names now.
The names of cells are made from the earlier names.
"""

MOST_EPISODES = 1_000_000
"""The limit for one cell. Without it, a typing error could fill the memory unnoticed.
"""


def parse_games(text: object) -> tuple[int, ...]:
    """Parses game seeds: "0-2,7" gives (0, 1, 2, 7).

    Raises ValueError for any other syntax, and for more than `MOST_EPISODES` games.
    """
    parts = str(text).strip("[] ").split(",")
    ranges = [_range(part) for part in parts]
    count = sum(games.stop - games.start for games in ranges)
    if count > MOST_EPISODES:
        raise ValueError(f"a cell has at most {MOST_EPISODES:,} games; name fewer")
    return tuple(dict.fromkeys(itertools.chain(*ranges)))


def _range(text: str) -> range:
    match = re.fullmatch(r"\s*([0-9]{1,30})(?:\s*-\s*([0-9]{1,30}))?\s*", text)
    if match:
        first = int(match[1])
        last = int(match[2] or first)
        if first <= last:
            return range(first, last + 1)
    raise ValueError("write seeds and ranges of seeds, such as '0-59' or '3,7-9'")


def in_ranges(numbers: Iterable[int]) -> str:
    """Writes numbers as `parse_games` reads them: "0-2,7"."""
    lasts = dict[int, int]()  # the last number of each range, by its first
    first = -1
    for number in sorted(set(numbers)):
        if number != lasts.get(first, -2) + 1:
            first = number
        lasts[first] = number
    parts = []
    for first, last in lasts.items():
        parts.append(str(first) if first == last else f"{first}-{last}")
    return ",".join(parts)


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


_if_known = Field(exclude_if=lambda value: value is None)  # None is not written


def _with(keys: Any) -> AfterValidator:
    """Returns a validator that requires `keys` and keeps all other keys as they are."""
    adapter = pydantic.TypeAdapter(keys)

    def check(value: dict[str, Any]) -> dict[str, Any]:
        adapter.validate_python(value)
        return value

    return AfterValidator(check)


@dataclass(frozen=True, kw_only=True)
class Start:
    """One start or continuation of the cell, with everything that may differ between
    starts.

    `config` is the whole resolved configuration. `games_teach_each_other` says that
    trials of one game use the trials of other games, so that games are not independent.
    `committed` is the time of the commit. `rows_before` is how many rows were found if
    run.json was lost. `arm` is the name of the arm's file, if one was chosen.
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
    arm: Annotated[str | None, _if_known] = None

    @property
    def episodes(self) -> set[GameTrial]:
        """The requested episodes. Raises ValueError."""
        games = parse_games(self.config["games"])
        trials = range(self.config["trials"])
        return set(itertools.product(games, trials))


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The content of run.json: what is the same for all starts of a cell, and its
    `starts`.

    `labels` are the names of the chosen YAML files. `identity` holds the options that
    change results, `environment` the environment's own name, and `model` the backend's
    description of its weights. `games` is set if the method learns, because then
    results depend on which games are played. `outcomes` is set if the environment or
    the method declares its own outcomes.

    `prompt_sha256` is the hash of all prompts of the method's folder, and
    `used_prompt_sha256` of those that this cell's variant uses. `code_sha256` has the
    files of an environment or a method from outside the project, and those from which
    games are made.
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
    used_prompt_sha256: Annotated[str | None, _if_known] = None
    code_sha256: Annotated[dict[str, str] | None, _if_known] = None
    games: Annotated[list[int] | None, _if_known] = None
    outcomes: Annotated[dict[str, Outcome] | None, _if_known] = None


RUN = pydantic.TypeAdapter(RunRecord)
"""Reads and writes run.json, except for its format number."""


def read_run(cell: Path) -> RunRecord:
    """Reads the run.json of a cell's folder. Raises ConfigError if it is invalid or has
    another format.
    """
    path = cell / "run.json"
    try:
        found = hidden(object_of(path))  # an earlier version may have written a secret
        if (recorded_format := found.get("format", 1)) != FORMAT:
            raise ConfigError(_other_format(path, recorded_format, found))
        run = _run_of(with_present_names(found))
    except (OSError, ValueError) as error:
        words = in_one_line(error)
        raise ConfigError(
            f"{path} is not a valid record ({words:.300}); move it away"
        ) from error
    declare(run.outcomes or {})
    return run


def with_present_names(found: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of a run.json, whose options have their names of now."""
    named = dict(found)
    if isinstance(found.get("identity"), dict):
        named["identity"] = with_options_renamed(found["identity"])
    return named


def with_options_renamed(groups: Mapping[str, Any]) -> dict[str, Any]:
    """Returns groups of options with the options of RENAMED under their names of now.
    Where both names are given, the earlier one has the value, because the other is the
    default.
    """
    renamed = dict(groups)
    for group, options in groups.items():
        if isinstance(options, dict):
            names = RENAMED.get(str(options.get("_target_")), {})
            given = {names[old]: options[old] for old in names if old in options}
            kept = {key: options[key] for key in options if key not in names}
            renamed[group] = {**kept, **given}
    return renamed


def with_first_names(groups: Mapping[str, Any]) -> dict[str, Any]:
    """Returns groups of options with the options of RENAMED under their first names."""
    renamed = dict(groups)
    for group, options in groups.items():
        if isinstance(options, dict):
            names = RENAMED.get(str(options.get("_target_")), {})
            first = {now: old for old, now in names.items()}
            renamed[group] = {first.get(key, key): options[key] for key in options}
    return renamed


def _run_of(found: Mapping[str, Any]) -> RunRecord:
    """Raises ValueError."""
    run = RUN.validate_python(found)
    for start in run.starts:
        _ = start.episodes
    return run


def continued(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of run.json after another start. Raises ValueError, which
    says what differs, if `new` describes a different run.
    """
    if changed := changed_keys(before, new):
        raise ValueError(
            f"{differing(changed, before, new)}: choose another `name`, move that"
            " folder away, or put the old version back to finish it"
        )
    starts = before["starts"] + new["starts"]
    return {**new, **before, "starts": starts}


def changed_keys(before: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Returns the keys in which two run.json describe different runs, sorted.

    All prompts of a folder are compared only if it is not known which of them the
    record used.
    """
    ignored = {"starts"}
    if _USED_PROMPT in before:
        ignored.add(_PROMPT)
    keys = sorted((new.keys() | before.keys()) - ignored)
    return [key for key in keys if before.get(key) != new.get(key)]


MOST_FILES = 5  # that a message names
_PROMPT = "prompt_sha256"
_USED_PROMPT = "used_prompt_sha256"
_CODE = "code_sha256"


def differing(
    changed: Sequence[str], before: Mapping[str, Any], new: Mapping[str, Any]
) -> str:
    """Returns what differs in words: "other code in lamp.py and other prompts"."""
    differences = list[str]()
    if _CODE in changed:
        old_files = before.get(_CODE) or {}
        new_files = new.get(_CODE) or {}
        changed_files = old_files.items() ^ new_files.items()
        files = sorted({name for name, _ in changed_files})
        named = ", ".join(files[:MOST_FILES])
        if len(files) > MOST_FILES:
            named += f" and {len(files) - MOST_FILES} more files"
        differences.append(f"other code in {named}")
    if _PROMPT in changed or _USED_PROMPT in changed:
        differences.append("other prompts")
    values = [key for key in changed if key not in (_PROMPT, _USED_PROMPT, _CODE)]
    if values:
        differences.append(f"other values of {', '.join(values)}")
    return " and ".join(differences)


def refuse_older(
    cell: Path, identity: Mapping[str, Any], versions: Mapping[str, Any]
) -> None:
    """Raises ConfigError if another version of this program began the cell under
    another name, because some of its options were others.

    `cell` is the cell's folder, `identity` is as in `RunRecord`, and `versions` are the
    "packages" and the "commit" that run now.
    """
    labels_and_seed, _, _ = cell.name.rpartition("-")
    for path in sorted(cell.parent.glob(f"{labels_and_seed}-*/run.json")):
        try:
            older = read_run(path.parent)
        except ConfigError:  # a report names it; it does not concern this cell
            continue
        last = older.starts[-1]
        same_packages = last.packages == versions["packages"]
        same_version = same_packages and last.commit == versions["commit"]
        options = _options_of_one(older.identity, identity)
        if path.parent != cell and options and not same_version:
            program = (last.packages or {}).get("pddlego_local", "of unknown version")
            if last.commit:
                program += f" (commit {last.commit:.12})"
            raise ConfigError(
                f"{path.parent} was begun with pddlego_local {program}, which had other"
                f" options ({', '.join(options)}): finish it with that version, or"
                " choose another `name`"
            )


def _options_of_one(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Returns the options that only one of two identities has; none if an option that
    both have differs.
    """
    options = list[str]()
    for group in a.keys() & b.keys() - {"seed"}:
        ours = a[group]
        theirs = b[group]
        for name in ours.keys() | theirs.keys():
            if name not in ours or name not in theirs:
                options.append(f"{group}.{name}")
            elif ours[name] != theirs[name]:
                return []
    return sorted(options)


def check_readable(written: Mapping[str, Any]) -> None:
    """Raises ConfigError if `written` could not be read back from a run.json."""
    try:
        _run_of(json.loads(json.dumps(written)))
    except (TypeError, ValueError) as error:
        words = in_one_line(error)
        raise ConfigError(
            f"a record of this cell could not be read back: {words:.300}"
        ) from error


def _other_format(path: Path, recorded: object, found: Mapping[str, Any]) -> str:
    starts = found.get("starts") or [{}]
    last = starts[-1]
    written_by = ""
    if isinstance(last, dict) and last.get("commit"):
        written_by = f" (commit {last['commit']!s:.12})"
    return (
        f"{path} is of format {recorded} and this version reads format {FORMAT}: use"
        f" the version that wrote it{written_by}, or play again under another `name`"
    )
