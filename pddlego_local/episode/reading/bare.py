"""Reads an answer that is not written as an object: a command, a move, a number, a
list, or a few sentences.
"""
# ruff: noqa: RUF001  # these quotes and bars are intended

import contextlib
import itertools
import re

import pydantic

from pddlego_local.decoding.forms import COMMAND, GOALS, MOVE, TEXT, Fields, Form
from pddlego_local.episode.reading.commands import Marked, command, marked, one_of_lines
from pddlego_local.episode.reading.entries import Entries, fitted
from pddlego_local.episode.reading.lists import list_in
from pddlego_local.episode.reading.numbers import number_in
from pddlego_local.episode.reading.objects import objects
from pddlego_local.episode.reading.turns import turns

_TOKENS = re.compile(r"\A(?:\s|<[|｜][^<>|｜]{1,40}[|｜]>(?:assistant\b)?|</s>)+")
_FENCED = re.compile(
    r"(?:(?<!`)`{3,}+|(?<!~)~{3,}+)[^\n`]*\n(.*?)(?:`{3}|~{3})", re.DOTALL
)
_TAGGED = re.compile(
    r"<((?:next_|final_)?(?:action|act|command|answer|response|output|number|choice|option|text"
    r"|goals|plan))>([^<]*)(?:</\1>|\Z)",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\{((?:[^{}\n]|\{[^{}\n]*\})*)\}")
_MOST_TURNS = 200


def bare(text: str, form: Form[Fields], *, cut: bool = False) -> Entries | None:
    """Returns the entries of an answer that is not written as an object, or None.

    If a text continues with imagined turns, the first turn that holds an answer is
    taken. If the token limit cut the text, only actions on complete lines are read in
    its last turn.
    """
    begins = [0, *itertools.islice(turns(text, form), _MOST_TURNS)]
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        part = _TOKENS.sub("", text[begin:end])
        last = cut and end == len(text)
        whole = part.rpartition("\n")[0] if last else part
        if form in (COMMAND, MOVE) and (found := marked(whole)):
            return _acted(found, form, last)
        if not last and part.strip() and (entries := _said(part, form)):
            return entries
    return None


def _acted(found: list[Marked], form: Form[Fields], cut: bool) -> Entries | None:
    """Takes the first action, or a thought if there is no action."""
    actions = [text for kind, text in found if kind == "act"]
    if form is COMMAND:
        return _command(actions[0]) if actions else None
    if actions:
        action = one_of_lines(actions[0])
        return {"kind": "act", "text": action} if action else None
    return None if cut else {"kind": "think", "text": found[0][1].strip(" *_\"'`“”‘’")}


def _command(text: str) -> Entries | None:
    found = command(text)
    return {"action": found} if found else None


def _said(part: str, form: Form[Fields]) -> Entries | None:
    alone = _alone(part)
    if entries := _without_braces(alone, form):
        return entries
    if form is COMMAND:
        quoted = re.findall(r"(?:^|\n)[ \t]*`([^`\n]+)`[ \t.]*(?=\n|$)", part)
        lines = {
            line.strip()
            for line in (quoted if len(quoted) == 1 else alone.splitlines())
        }
        lines -= {""}
        return _command(lines.pop()) if len(lines) == 1 else None
    if form.name == "choice":
        number = number_in(alone)
        return None if number is None else {"number": number}
    if form is GOALS:
        return _goals(alone)
    if form is TEXT and not re.search(r"[{}]|```", part):
        return {"text": alone}
    return None


def _alone(part: str) -> str:
    """Returns the content of the only tag or fence, or the whole part if there is
    none.
    """
    for pattern, group in (_TAGGED, 2), (_FENCED, 1), (_BOXED, 1):
        found = list(pattern.finditer(part))
        part = found[0][group] if len(found) == 1 else part
    return part.strip("\ufeff \t\r\n")


def _without_braces(alone: str, form: Form[Fields]) -> Entries | None:
    """Reads an object whose braces are missing, or lines like "number: 2"."""
    keys = form.keys.model_fields.keys()
    if not re.match(
        rf"[\"'*_]?(?:{'|'.join(keys)})[\"'*_]*[ \t]*[:=]", alone, re.IGNORECASE
    ):
        return None
    for found in objects("{" + alone, lambda read: fitted(read, form).keys() >= keys):
        entries = fitted(found.entries, form)
        with contextlib.suppress(pydantic.ValidationError):
            form.keys.model_validate(entries)
            return entries
    return None


def _goals(alone: str) -> Entries | None:
    if alone.startswith("["):
        return _without_braces(f"goals: {alone}", GOALS)
    goals = list_in(alone)
    return {"goals": goals} if goals else None
