"""Answers to small questions without any object: a command, a number, a list, a few sentences."""
# ruff: noqa: RUF001  # these quotes are meant

import itertools
import re
from typing import Literal

from pddlego_local.decoding.forms import COMMAND, GOALS, MOVE, TEXT, Form, Keys
from pddlego_local.episode.reading.entries import NAMED, NUMBER, Entries, fitted, peeled
from pddlego_local.episode.reading.objects import objects

# Where a model goes on with what others say: the game, its user, the next turn of a chat.
TURN = re.compile(
    r"^[ \t>*#_\[(]*(?:Observation|Obs|Environment|Human|User)[ \t*_]*+\d*+[\])*_ \t]*+:"
    r"|(?<=\s)(?:Observation|Human|User):|\[INST\]|</s>|<end_of_turn>|<start_of_turn>user"
    r"|<[|｜](?:im_end|endoftext|eot_id|return|user|User)[|｜]>|<\|im_start\|>user",
    re.MULTILINE,
)
_TOKENS = re.compile(r"\A(?:\s|<[|｜][^<>|｜]{1,40}[|｜]>(?:assistant\b)?|</s>)+")
_FENCED = re.compile(r"(?:(?<!`)`{3,}+|(?<!~)~{3,}+)[^\n`]*\n(.*?)(?:`{3}|~{3})", re.DOTALL)
_TAGGED = re.compile(
    r"<((?:next_|final_)?(?:action|act|command|answer|response|output))>([^<]*)(?:</\1>|\Z)",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\{((?:[^{}\n]|\{[^{}\n]*\})*)\}")
_INLINE = re.compile(r"(?<=[.!?])[ \t]+(?=(?:Action|Act|Command) ?\d*:)")
_THOUGHT = re.compile(
    r"[>*_#\s-]*(?:think|thought|reasoning)[*_\s]*+\d*+[*_\s]*+:[*_\s]*+(\S.*)", re.I
)
_COMMAND = re.compile(r"[^\W\d_][\w '\"‘’“”/-]{0,79}")
_ITEM = re.compile(
    r"[ \t]*(?:[*_(]*(?:(?:step|goal|sub-?goal) )?(?P<number>\d+)[.):][*_]*|[-*•](?: \[ ?\])?)"
    r"[ \t]+(?P<item>\S.*)",
    re.IGNORECASE,
)
_MOST_WORDS = 10
_MOST_TURNS = 200
_SENTENCE = re.compile(  # how no command begins
    r"(?:i|we|you|he|she|it|they|the|an?|this|that|these|those|there|here|my|your|our|let|sorry|as"
    r"|to|since|because|if|when|now|first|next|then|so|however|based|given|with|yes|no|sure|ok|okay"
    r"|what|which|why|how|unfortunately|none|nothing|unable|cannot|can|after|before|for|is|are)"
    r"(?:['’]\w+)?\s",
    re.IGNORECASE,
)

Marked = tuple[Literal["act", "think"], str]


def bare(text: str, form: Form[Keys], *, cut: bool = False) -> Entries | None:
    """The entries of a form that is asked for in vain as an object, or None.

    Of a text that goes on with imagined turns, the first that holds an answer counts. Where the
    token limit cut the text, its last turn holds no more than actions whose lines are whole.
    """
    begins = [0, *(turn.start() for turn in itertools.islice(TURN.finditer(text), _MOST_TURNS))]
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        part = _TOKENS.sub("", text[begin:end])
        last = cut and end == len(text)
        whole = part.rpartition("\n")[0] if last else part
        if form in (COMMAND, MOVE) and (marked := _marked(whole)):
            return _acted(marked, form, last)
        if not last and part.strip() and (entries := _said(part, form)):
            return entries
    return None


def _marked(part: str) -> list[Marked]:
    """What is marked as an action or a thought: by a tag, by a name in its line or above it."""
    tagged = _TAGGED.findall(part)
    if tagged and "{" not in tagged[0][1]:
        inner = tagged[0][1]
        return _marked(inner) or [("act", inner)]
    if boxed := _BOXED.findall(part):
        return [("act", boxed[-1])]
    found: list[Marked] = []
    lines = [line for line in _INLINE.sub("\n", part).splitlines() if line.strip(" \t`~")]
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        if thought := _THOUGHT.match(line):
            found.append(("think", thought[1]))
        elif named := NAMED.match(line):
            found.append(("act", line[named.end() :].strip() or below))
    return found


def _acted(marked: list[Marked], form: Form[Keys], cut: bool) -> Entries | None:
    """The first action counts, before any thought."""
    actions = [text for kind, text in marked if kind == "act"]
    if form is COMMAND:
        return _command(actions[0]) if actions else None
    if actions:
        return {"kind": "act", "text": peeled(actions[0])}
    return None if cut else {"kind": "think", "text": marked[0][1].strip(" *_\"'`“”‘’")}


def _said(part: str, form: Form[Keys]) -> Entries | None:
    alone = _alone(part)
    if entries := _without_braces(alone, form):
        return entries
    if form is COMMAND:
        quoted = re.findall(r"(?:^|\n)[ \t]*`([^`\n]+)`[ \t.]*(?=\n|$)", part)
        lines = {line.strip() for line in (quoted if len(quoted) == 1 else alone.splitlines())}
        lines -= {""}
        return _command(lines.pop()) if len(lines) == 1 else None
    if form.name == "choice":
        found = (NUMBER.fullmatch(line.strip(" *_#\"'`“”\t")) for line in alone.split("\n"))
        numbers = {int(one[1]) for one in found if one}
        return {"number": numbers.pop()} if len(numbers) == 1 else None
    if form is GOALS:
        return _list(alone)
    if form is TEXT and not re.search(r"[{}]|```", part):
        return {"text": alone}
    return None


def _alone(part: str) -> str:
    """What the only tag or fence holds; without one, everything."""
    for pattern, group in (_TAGGED, 2), (_FENCED, 1), (_BOXED, 1):
        found = list(pattern.finditer(part))
        part = found[0][group] if len(found) == 1 else part
    return part.strip("\ufeff \t\r\n")


def _without_braces(alone: str, form: Form[Keys]) -> Entries | None:
    """The entries of an object whose braces are missing, or of lines like "number: 2"."""
    keys = form.keys.model_fields.keys()
    if not re.match(rf"[\"'*_]?(?:{'|'.join(keys)})[\"'*_]*[ \t]*[:=]", alone, re.IGNORECASE):
        return None
    found = objects("{" + alone, lambda read: fitted(read, form).keys() >= keys)
    return next((e for one in found if (e := fitted(one.entries, form)).keys() >= keys), None)


def _command(text: str) -> Entries | None:
    line = peeled(text)
    is_command = _COMMAND.fullmatch(line) and len(line.split()) <= _MOST_WORDS
    return {"action": line} if is_command and not _SENTENCE.match(line) else None


def _list(alone: str) -> Entries | None:
    """An array, or lines that are numbered or marked: a line before them may lead to them, and
    prose may stand around those that are numbered in order."""
    if alone.startswith("["):
        return _without_braces(f"goals: {alone}", GOALS)
    lines = [line for line in alone.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    items = [(at, item) for at, line in enumerate(lines) if (item := _ITEM.fullmatch(line))]
    numbers = [at - int(item["number"]) for at, item in items if item["number"]]
    in_order = len(numbers) == len(items) and len(set(numbers)) == 1
    if not items or not (in_order or (len(items) == len(lines) and not numbers)):
        return None
    return {"goals": [item["item"].strip(" \t*_") for _, item in items]}
