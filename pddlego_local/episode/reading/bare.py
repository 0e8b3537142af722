"""Answers to small questions without any object: a command, a number, a list, a few sentences."""
# ruff: noqa: RUF001  # these quotes are meant

import re
from typing import Any

from pddlego_local.decoding.forms import COMMAND, GOALS, MOVE, TEXT, Form, Keys
from pddlego_local.episode.reading.objects import RelaxedJson

_FENCED = re.compile(r"(?:`{3,}|~{3,})[^\n`]*\n(.*?)(?:`{3,}|~{3,})", re.DOTALL)
_AROUND = re.compile(r"^(?:[>$]\s*|\*\*|[\"'`“”‘’])+|(?:\*\*|[\"'`“”‘’])+$")
_NAMED = re.compile(r"^[*_ ]*(?:next )?(?:action|command|act)[*_ ]*[:=][*_ ]*", re.IGNORECASE)
_COMMAND = re.compile(r"[a-zA-Z][a-zA-Z0-9 /-]{0,79}")
_MOVE = re.compile(
    r"^[>*_ \t]*(think|thought|act|action)[*_\s]*:[*_\s]*(\S.*)$", re.I | re.MULTILINE
)
_NUMBER = re.compile(r"(?:(?:the )?(?:answer|choice|number)(?: is)?\s*[:=]?\s*)?(\d{1,4})\.?", re.I)
_ITEM = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+(\S.*)$", re.MULTILINE)
_MOST_WORDS = 10


def bare(text: str, form: Form[Keys]) -> dict[str, Any] | None:
    """The entries of a form that is asked for in vain as an object, or None."""
    alone = _alone(text)
    if form is COMMAND:
        return _command(text, alone)
    if form is MOVE:
        return _move(alone)
    if form.name == "choice":
        number = _NUMBER.fullmatch(_peeled(alone))
        return {"reason": "", "number": int(number[1])} if number else None
    if form is GOALS:
        goals = _list(alone)
        return {"goals": goals} if goals else None
    if form is TEXT and not re.search(r"[{}]|```", text):
        return {"text": alone}
    return None


def _alone(text: str) -> str:
    """What the only fence holds; without a fence, everything."""
    fenced = _FENCED.findall(text)
    return (fenced[0] if len(fenced) == 1 else text).strip("\ufeff \t\r\n")


def _peeled(line: str) -> str:
    """Without the quotes, stars and prompt signs around it."""
    return _AROUND.sub("", line.strip()).strip()


def _command(text: str, alone: str) -> dict[str, Any] | None:
    named = [_NAMED.sub("", line) for line in alone.splitlines() if _NAMED.match(line)]
    quoted = re.findall(r"(?:^|\n)[ \t]*`([^`\n]+)`[ \t]*(?=\n|$)", text)
    lines = named[-1:] or (quoted if len(quoted) == 1 else alone.splitlines())
    line = _peeled(lines[0]) if len(lines) == 1 else ""
    is_command = _COMMAND.fullmatch(line) and len(line.split()) <= _MOST_WORDS
    return {"action": line} if is_command else None


def _move(alone: str) -> dict[str, Any] | None:
    """The last line that is marked as a thought or an act."""
    marked = _MOVE.findall(alone)
    if not marked:
        return None
    kind, text = marked[-1]
    return {"kind": "think" if kind.lower().startswith("th") else "act", "text": _peeled(text)}


def _list(alone: str) -> list[Any]:
    """An array, or lines that are numbered or marked; a line before them may lead to them."""
    if alone.startswith("["):
        try:
            return RelaxedJson(alone, steps=1_000_000).read_array()
        except (ValueError, RecursionError):
            return []
    lead, _, rest = alone.partition("\n")
    lines = [
        line
        for line in (rest if lead.rstrip().endswith(":") else alone).splitlines()
        if line.strip()
    ]
    items = [_ITEM.match(line) for line in lines]
    return [item[1].strip() for item in items if item] if all(items) else []
