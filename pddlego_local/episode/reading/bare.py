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
    r"(?:(?<!`)`{3,}+|(?<!~)~{3,}+)[^\n`]*\n(?P<inner>.*?)(?:`{3}|~{3})", re.DOTALL
)
_TAGGED = re.compile(
    r"<(?P<name>(?:next_|final_)?(?:action|act|command|answer|response|output|number"
    r"|choice|option|text|goals|plan))>(?P<inner>[^<]*)(?:</(?P=name)>|\Z)",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\{(?P<inner>(?:[^{}\n]|\{[^{}\n]*\})*)\}")
_QUOTED_LINE = re.compile(r"(?:^|\n)[ \t]*`([^`\n]+)`[ \t.]*(?=\n|$)")
_AROUND_THOUGHT = " *_\"'`“”‘’"
_MOST_TURNS = 200


def bare(text: str, form: Form[Fields], *, cut: bool = False) -> Entries | None:
    """Returns the entries of an answer that is not written as an object, or None.

    If a text continues with imagined turns, the first turn that holds an answer is
    taken. If the token limit cut the text, only actions on complete lines are read in
    its last turn.
    """
    begins = [0, *itertools.islice(turns(text, form), _MOST_TURNS)]
    for begin, end in itertools.pairwise([*begins, len(text)]):
        part = _TOKENS.sub("", text[begin:end])
        is_cut = cut and end == len(text)
        lines = part
        if is_cut:
            lines, _, _unfinished = part.rpartition("\n")
        found = marked(lines) if form in (COMMAND, MOVE) else []
        if found:
            return _acted(found, form, is_cut)
        if not is_cut and part.strip() and (entries := _said(part, form)):
            return entries
    return None


def _acted(found: list[Marked], form: Form[Fields], cut: bool) -> Entries | None:
    """Takes the first action, or a thought if there is no action."""
    actions = [mark.text for mark in found if mark.kind == "act"]
    if form is COMMAND:
        return _command(actions[0]) if actions else None
    if actions:
        action = one_of_lines(actions[0])
        return {"kind": "act", "text": action} if action else None
    if cut:
        return None
    return {"kind": "think", "text": found[0].text.strip(_AROUND_THOUGHT)}


def _command(text: str) -> Entries | None:
    found = command(text)
    return {"action": found} if found else None


def _said(part: str, form: Form[Fields]) -> Entries | None:
    alone = _alone(part)
    if entries := _without_braces(alone, form):
        return entries
    if form is COMMAND:
        quoted = _QUOTED_LINE.findall(part)
        lines = quoted if len(quoted) == 1 else alone.splitlines()
        distinct = {line.strip() for line in lines}
        distinct.discard("")
        if len(distinct) > 1 or not distinct:
            return None
        return _command(distinct.pop())
    if form.name == "choice":
        number = number_in(alone)
        return None if number is None else {"number": number}
    if form.name == "goals":
        return _goals(alone)
    if form is TEXT and not re.search(r"[{}]|```", part):
        return {"text": alone}
    return None


def _alone(part: str) -> str:
    """Returns the content of the only tag or fence, or the whole part if there is
    none.
    """
    for pattern in _TAGGED, _FENCED, _BOXED:
        found = list(pattern.finditer(part))
        if len(found) == 1:
            part = found[0]["inner"]
    return part.strip("\ufeff \t\r\n")


def _without_braces(alone: str, form: Form[Fields]) -> Entries | None:
    """Reads an object whose braces are missing, or lines like "number: 2"."""
    keys = form.keys.model_fields.keys()
    first_key = rf"[\"'*_]?(?:{'|'.join(keys)})[\"'*_]*[ \t]*[:=]"
    if not re.match(first_key, alone, re.IGNORECASE):
        return None

    def is_answer(entries: Entries) -> bool:
        return fitted(entries, form).keys() >= keys

    for found in objects("{" + alone, is_answer):
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
