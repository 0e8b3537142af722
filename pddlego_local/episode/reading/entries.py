"""From the keys and values of an object to the entries of a form.

An object may have other names for its keys, additional keys, lists of lines, fences
around PDDL, and marks around a command.
"""

import re
from collections.abc import Mapping
from typing import Any, get_origin

from pddlego_local.decoding.forms import COMMAND, MOVE, Fields, Form
from pddlego_local.episode.reading.commands import (
    is_argument,
    one_of_lines,
    with_argument,
)
from pddlego_local.episode.reading.lists import list_in
from pddlego_local.episode.reading.numbers import number_in, number_under_other_key
from pddlego_local.episode.reading.turns import before_turn

Entries = dict[str, Any]

OF_FILES = ("pddl", "domain", "problem")  # the names of the forms that ask for files
_OTHER_NAMES: Mapping[str, str] = {
    "domain": "df",
    "problem": "pf",
    "command": "action",
    "act": "action",
    "next_action": "action",
    "next action": "action",
}
_GOALS = ("plan", "steps", "subgoals", "sub_goals", "sub-goals", "goal_list", "tasks")
_REASONS = ("reasoning", "explanation", "why", "rationale", "justification")
_KINDS = {"thought": "think", "thinking": "think", "action": "act", "command": "act"}
_FILLER = re.compile(r"[\s_.-]|file|pddl|definition")
_FENCE_OPENS = re.compile(r"\s*(?:`{3,}|~{3,})[\w+.-]*[ \t]*(?:\r?\n)?")
_FENCE_CLOSES = re.compile(r"(?:`{3,}|~{3,})\Z")


def fitted(entries: Entries, form: Form[Fields]) -> Entries:
    """Returns the entries that the form asks for, with the form's names and types."""
    fields = form.keys.model_fields
    kept: Entries = {}
    for name, value in entries.items():
        key = name if name in fields else _name(name, form)
        has_own_name = name == key
        if key in fields and (has_own_name or key not in kept):
            kept[key] = _suited(value, fields[key].annotation, form)
    if form.name in OF_FILES:
        for key, value in kept.items():
            if isinstance(value, str):
                kept[key] = unfenced(value)
        return kept
    if form.name == "choice" and "number" not in kept:
        number = number_under_other_key(entries)
        if number is not None:
            kept["number"] = number
    if kept:
        for key in form.may_be_blank:
            kept.setdefault(key, "")
    if form is COMMAND:
        return _one_command(kept, "action", entries)
    if form is MOVE:
        return _move(kept, entries)
    return kept


def _move(kept: Entries, entries: Entries) -> Entries:
    """Reads a move, also if its kind is the key: {"thought": "…", "action": "look"}."""
    move = kept
    if "kind" not in kept:
        by_kind = {_kind(name): text for name, text in entries.items()}
        for kind in ("act", "think"):
            if kind in by_kind:
                move = {"kind": kind, "text": by_kind[kind]}
                break
    if isinstance(move.get("kind"), str):
        move["kind"] = _kind(move["kind"])
    if move.get("kind") == "act":
        return _one_command(move, "text", entries)
    return move


def _one_command(kept: Entries, key: str, entries: Entries) -> Entries:
    """Reads the command under `key`, and removes the key if it holds several or half of
    one.
    """
    value = kept.get(key)
    if isinstance(value, list):
        distinct = {str(item) for item in value}
        if len(distinct) == 1:
            value = kept[key] = value[0]
    if not isinstance(value, str) or not value.strip():
        return kept
    command = one_of_lines(before_turn(value, COMMAND))
    for name, argument in entries.items():
        if command and is_argument(name):
            command = with_argument(command, name, _as_text(argument))
    if command:
        kept[key] = command
    else:
        del kept[key]
    return kept


def _as_text(argument: object) -> str:
    """Returns the words of an argument, which may be a list or an object."""
    if isinstance(argument, dict):
        argument = list(argument.values())
    parts = argument if isinstance(argument, list) else [argument]
    words = [str(part) for part in parts if part is not None]
    return " ".join(words)


def _kind(name: str) -> str:
    return _KINDS.get(name.lower(), name.lower())


def _name(name: str, form: Form[Fields]) -> str:
    """Returns a key as the form spells it: "Domain File" is "df"."""
    name = name.strip().lower()
    if form.name in OF_FILES:
        name = _FILLER.sub("", name)
    if form.name == "goals" and name in _GOALS:
        return "goals"
    if form.name == "choice" and name in _REASONS:
        return "reason"
    return _OTHER_NAMES.get(name, name)


def _suited(value: object, wanted: Any, form: Form[Fields]) -> object:
    """Joins a list of lines, reads a number, accepts [] or {} as empty, and drops other
    keys.
    """
    if form.name == "goals" and isinstance(value, str | dict):
        return _listed(value)
    container = get_origin(wanted)
    if value in ([], {}) and container in (list, dict):
        return container()
    if isinstance(value, list) and wanted is str and form not in (COMMAND, MOVE):
        return _joined(value)
    if isinstance(value, str) and wanted is int:
        number = number_in(value)
        return value if number is None else number
    is_part = isinstance(wanted, type) and issubclass(wanted, Fields)
    if isinstance(value, dict) and is_part:
        suited = {}
        for key, entry in value.items():
            if key in wanted.model_fields:
                field = wanted.model_fields[key]
                suited[key] = _suited(entry, field.annotation, form)
        return suited
    return value


def _joined(lines: list[Any]) -> object:
    """Returns the text of which a list has the lines, or the list if it has others."""
    if not lines or not all(isinstance(line, str) for line in lines):
        return lines
    have_ends = all(line.endswith("\n") for line in lines[:-1])
    if have_ends:
        return "".join(lines)
    return "\n".join(lines)


def _listed(value: str | dict[str, Any]) -> object:
    """Reads a list of goals that is a text of several items, or an object with their
    numbers.
    """
    if isinstance(value, str):
        found = list_in(value)
        is_list = found is not None and len(found) > 1
        return found if is_list else value
    numbers = [str(number) for number in range(1, len(value) + 1)]
    if list(value) == numbers:
        return list(value.values())
    return value


def unfenced(text: str) -> str:
    """Returns PDDL without the fence around it."""
    opens = _FENCE_OPENS.match(text)
    if opens is None:
        return text
    inner = text[opens.end() :].rstrip()
    return _FENCE_CLOSES.sub("", inner).rstrip()
