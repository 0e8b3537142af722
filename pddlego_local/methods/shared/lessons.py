"""The lesson pool of FCRF: sentences that tasks of one type have taught, each with its type.

It is derived from rows, never kept apart from them: whoever has the rows has the pool.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import pydantic
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow

_Words = Annotated[str, Field(pattern=r"\S")]


@dataclass(config=ConfigDict(extra="forbid"), frozen=True)
class Lesson:
    """One sentence, and the type of the tasks that it is about."""

    task_type: _Words
    text: _Words


_LESSON = pydantic.TypeAdapter(Lesson)


def lesson_pool(rows: Iterable[EpisodeRow]) -> list[Lesson]:
    """What the trials of `rows` taught, in task order: by trial, then by game. The order of the
    rows, which is the order in which episodes ended, says nothing."""
    learnt = [row for row in rows if row.notes.get("lesson")]
    learnt.sort(key=lambda row: (row.trial, row.game))
    return [Lesson(row.task_type, row.notes["lesson"]) for row in learnt]


def read_lessons(path: Path) -> list[Lesson]:
    """The pool in `path`: a cell's folder, or a file of lines {"task_type": "…", "text": "…"}.
    Raises ConfigError naming file and line of what is no lesson."""
    if (path / "episodes.jsonl").is_file():
        return lesson_pool(read_rows(path / "episodes.jsonl"))
    if path.is_dir():
        raise ConfigError(
            f"method.lessons: {path} is not the folder of a cell: it holds no episodes.jsonl"
        )
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"method.lessons: {path} cannot be read: {error}") from error
    return [
        _parse(line, f"{path} line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _parse(line: str, place: str) -> Lesson:
    hint = 'write {"task_type": "…", "text": "…"}'
    try:
        return _LESSON.validate_python(json.loads(line))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the line"
        raise ConfigError(
            f"method.lessons: {place}: {key}: {first['msg'].lower()}; {hint}"
        ) from error
    except ValueError as error:
        raise ConfigError(f"method.lessons: {place} is not JSON: {error}; {hint}") from error
