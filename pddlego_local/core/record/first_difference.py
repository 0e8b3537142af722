"""Finds where an episode that was played again leaves its record.

Times (the fields that end in `_s`) are not compared: no two machines need the same.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pddlego_local.core.formats import Recorded, to_json
from pddlego_local.core.record.events import Event

_AROUND = 30  # characters that are shown on either side of a difference


def first_difference(recorded: Sequence[Event], again: Sequence[Event]) -> str:
    """Returns the first difference of two sequences of events, in words; "" if there is
    none.
    """
    for number, (before, now) in enumerate(zip_longest(recorded, again), start=1):
        if before is None:
            return f"event {number} ({now.event}) is not in the record"
        if now is None:
            return f"event {number} ({before.event}) does not come again"
        if before.event != now.event:
            return (
                f"event {number} is {before.event!r} in the record and {now.event!r}"
                " when it is played again"
            )
        if found := _difference(_as_written(before), _as_written(now), ()):
            return f"event {number} ({before.event}): {found}"
    return ""


def _as_written(entry: Recorded) -> Any:
    """Returns the entry as it is read from a file, where each sequence is a list."""
    return json.loads(to_json(entry))


def _difference(before: Any, now: Any, path: tuple[str, ...]) -> str:
    if path and path[-1].endswith("_s"):
        return ""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in {**before, **now}:
            if key not in before or key not in now:
                has = "has no" if key in before else "has a new"
                return f"it {has} {'.'.join((*path, key))} when it is played again"
            if found := _difference(before[key], now[key], (*path, key)):
                return found
        return ""
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            if found := _difference(one, other, (*path, str(number))):
                return found
        return ""
    if before == now and isinstance(before, bool) == isinstance(now, bool):
        return ""
    at = _departure(before, now)
    return (
        f"{'.'.join(path)} is {_shown(before, at)} in the record and"
        f" {_shown(now, at)} when it is played again"
    )


def _departure(before: object, now: object) -> int:
    """Returns the number of characters with which two texts begin alike."""
    if not (isinstance(before, str) and isinstance(now, str)):
        return 0
    alike = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        alike += 1
    return alike


def _shown(value: object, at: int) -> str:
    """Returns the part of a value around the place `at`."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    start = max(0, at - _AROUND)
    end = at + _AROUND
    part = repr(text[start:end]) if isinstance(value, str) else text[start:end]
    before = "… " if start else ""
    after = " …" if end < len(text) else ""
    return f"{before}{part}{after}"
