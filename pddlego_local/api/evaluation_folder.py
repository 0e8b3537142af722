"""The folder of an evaluation: one model's alone, and unchanged by one that cannot
begin.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.entry import RECORD, Entry, read_entry
from pddlego_local.core.record.folder import Cell, recording
from pddlego_local.core.record.run_record import read_run
from pddlego_local.runner.config import CellConfig

CONTENT = ("fingerprint", "gguf_sha256", "commit")
"""The keys of a record that tell weights of one name apart by their content."""
_OF_A_START = ("*/run.json", "*/faults.jsonl", "sweep-*.json")


def check_possible(config: CellConfig) -> None:
    """Raises ConfigError if no folder can be made where the settings say."""
    run = config.folder.parent
    try:
        there = next(path for path in (run, *run.absolute().parents) if path.exists())
    except OSError as error:
        raise ConfigError(
            f"run.out: {run} cannot be made: {error.strerror}."
        ) from error
    why = "" if os.access(there, os.W_OK | os.X_OK) else "cannot be written"
    if not there.is_dir():
        why = "is no folder"
    if why:
        raise ConfigError(
            f"run.out: {run} cannot be used, because {there} {why}; name another"
            " folder."
        )


def is_of_another(run: Path, entry: Entry, weights: Mapping[str, str]) -> bool:
    """Returns whether another evaluation began in this folder, and has no episode.
    `weights` identifies the entry's weights; it is empty if they are not here. Raises
    ConfigError if it has episodes.
    """
    if not (run / RECORD).exists():
        return False
    differences = [*_differences(read_entry(run), entry), *_other_weights(run, weights)]
    if differences and _has_episodes(run):
        raise ConfigError(
            f"{run} holds another evaluation: {'; '.join(differences)}. Give yours a"
            " folder of its own with name=NAME or run.out=FOLDER."
        )
    return bool(differences)


def clear(run: Path) -> None:
    """Removes what a start without an episode left in the folder. Raises CellHeld if
    another process is playing there.
    """
    for pattern in _OF_A_START:
        for path in sorted(run.glob(pattern)):
            _remove(path, run)


def _remove(path: Path, run: Path) -> None:
    with recording(path):
        if path.parent == run:
            path.unlink()
            return
        with Cell(path.parent):
            path.unlink(missing_ok=True)


def _has_episodes(run: Path) -> bool:
    return any(path.stat().st_size for path in run.glob("*/episodes.jsonl"))


def _differences(before: Entry, now: Entry) -> Iterator[str]:
    """Yields in words how two entries differ."""
    if (before.suite, before.sha256) != (now.suite, now.sha256):
        yield (
            f"it played suite {before.suite} ({before.sha256[:12]}), and this is suite"
            f" {now.suite} ({now.sha256[:12]})"
        )
    if before.size != now.size:
        yield f"its size is {before.size}, not {now.size}"
    if before.name != now.name:
        yield f"it was played by {before.name}, not by {now.name}"
    if before.thinking != now.thinking:
        thought = "thought before it answered" if before.thinking else "did not think"
        yield f"its model {thought}"
    for key in sorted(before.model.keys() | now.model.keys()):
        was, given = before.model.get(key), now.model.get(key)
        if was != given and key != "_convert_":
            yield _option_differs(key, was, given)


def _option_differs(key: str, was: Any, given: Any) -> str:
    if key == "_target_":
        kinds = [str(name).rpartition(".")[2] for name in (was, given)]
        return f"its model ran as {kinds[0]}, not as {kinds[1]}"
    if isinstance(was, Mapping) or isinstance(given, Mapping):
        return f"model.{key} was another one"
    return f"model.{key} was {was}, not {given}"


def _other_weights(run: Path, weights: Mapping[str, str]) -> Iterator[str]:
    """Yields a sentence if the folder's first cell was played with weights of another
    content, which may have the same name.
    """
    for path in sorted(run.glob("*/run.json"))[:1]:
        before = read_run(path.parent).model
        for key in CONTENT:
            was, given = before.get(key), weights.get(key)
            if was and given and was != given:
                old, new = before.get("weights"), weights.get("weights")
                yield (
                    f"its weights were {old} ({key} {was[:12]}), not {new}"
                    f" ({given[:12]})"
                )
