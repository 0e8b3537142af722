"""From a model's text to the entries of a form.

An object may have other names for its keys, additional keys, lists of lines, fences around PDDL,
and marks around a command. If there is no object, the answer to a small question is still read: a
command, a number, a list, or a few sentences.
"""
# ruff: noqa: RUF001  # these quotes are intended

import itertools
import re
from collections.abc import Mapping
from typing import Any, Literal, get_origin

from pddlego_local.decoding.forms import COMMAND, GOALS, MOVE, TEXT, Fields, Form
from pddlego_local.episode.reading.objects import objects
from pddlego_local.episode.reading.words import any_of

Entries = dict[str, Any]

OF_FILES = ("pddl", "domain", "problem")  # the names of the forms that ask for files
_OTHER_NAMES: Mapping[str, str] = {"domain": "df", "problem": "pf"} | dict.fromkeys(
    ("command", "act", "next_action", "next action"), "action"
)
_KINDS = {"thought": "think", "thinking": "think", "action": "act", "command": "act"}
_FILLER = re.compile(r"[\s_.-]|file|pddl|definition")
_FENCE_OPENS = re.compile(r"\s*(?:`{3,}|~{3,})[\w+.-]*[ \t]*(?:\r?\n)?")
_FENCE_CLOSES = re.compile(r"(?:`{3,}|~{3,})\Z")

_NUMBER = re.compile(  # "2", "Option 2", "2. go to shelf 1", "I choose 2."
    r"(?:(?:the |my )?(?:best |next |final )?(?:answer|choice|number|option|action|selection)"
    r"(?: number)?(?: is)?\s*+[:=#]*+\s*+|i (?:would |will )?(?:choose|pick|select)(?: option)? )?"
    r"[#(\[]?(\d{1,4})[)\]]?(?:\.|[.:)]\s+\S.*)?",
    re.IGNORECASE,
)
_NAMED = re.compile(  # "Action 1:", "**Action:**", "The next action is"
    r"[>*_#\s-]*+(?:(?:the |my |your )?(?:next |best |final |chosen )?(?:action|command|act|answer)"
    r"(?: to take)?(?: is)?[ \t]*+[\[(#]?\d{0,3}[\])]?[*_ \t]*+(?:[:=]|[-=]>)"
    r"|(?:the |my )?(?:next|best|final|chosen) (?:action|command)(?: to take)? is "
    r"|(?:(?<=[*#])|(?<=# ))(?:next |final )?(?:action|command)(?=[*_ \t]*$))[*_ \t]*",
    re.IGNORECASE,
)
_BEFORE = re.compile(  # prompt signs, list marks, and names of speakers
    r"(?:[>$]+\s*|[-*•]\s+|\d{1,2}[.)]\s+|(?:step \d+|assistant|ai|agent|player)\s*:\s*"
    rf"|{_NAMED.pattern})+",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"\(([^()]+)\)|\[([^\[\]]+)\]|\\boxed\{(.+)\}|\\text\{([^{}]+)\}|\\\((.+)\\\)"
    r"|(?:action|act|do|step|execute)[(\[]([^()\[\]]+)[)\]]",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?:\s|<\|[^<>|]{1,40}\|>|</s>|<end_of_turn>|(?<![.])\.)+\Z")
_LONGEST = 400  # characters of a command with its marks
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}


def fitted(entries: Entries, form: Form[Fields]) -> Entries:
    """Returns the entries that the form asks for, with the form's names and types."""
    fields = form.keys.model_fields
    kept: Entries = {}
    for name, value in entries.items():
        key = name if name in fields else _name(name, form)
        if key in fields and (name == key or key not in kept):
            kept[key] = _suited(value, fields[key].annotation)
    if form.name in OF_FILES:
        return {k: unfenced(v) if isinstance(v, str) else v for k, v in kept.items()}
    for key in form.may_be_blank - kept.keys() if kept else ():
        kept[key] = ""
    if form is COMMAND and isinstance(kept.get("action"), str):
        kept["action"] = peeled(kept["action"]) or kept["action"]
    return _move(kept, entries) if form is MOVE else kept


def _move(kept: Entries, entries: Entries) -> Entries:
    """Reads a move, also if its kind is the key: {"thought": "…", "action": "look"}."""
    kinds = {_kind(name): text for name, text in entries.items()}
    for kind in ("think", "act") if "kind" not in kept else ():
        kept = {"kind": kind, "text": kinds[kind]} if kind in kinds else kept
    if isinstance(kept.get("kind"), str):
        kept["kind"] = _kind(kept["kind"])
    if kept.get("kind") == "act" and isinstance(kept.get("text"), str):
        kept["text"] = peeled(kept["text"]) or kept["text"]
    return kept


def _kind(name: str) -> str:
    return _KINDS.get(name.lower(), name.lower())


def _name(name: str, form: Form[Fields]) -> str:
    """Returns a key as the form spells it: "Domain File" is "df"."""
    name = name.strip().lower()
    if form.name in OF_FILES:
        name = _FILLER.sub("", name)
    return _OTHER_NAMES.get(name, name)


def _suited(value: object, wanted: Any) -> object:
    """Joins a list of lines, reads a number, accepts [] or {} as empty, and drops other keys."""
    if wanted is str and isinstance(value, list) and value:
        lines = [line for line in value if isinstance(line, str)]
        ended = all(line.endswith("\n") for line in lines[:-1])
        return ("" if ended else "\n").join(lines) if len(lines) == len(value) else value
    if wanted is int and isinstance(value, str) and (number := _NUMBER.fullmatch(value.strip())):
        return int(number[1])
    if value in ([], {}) and get_origin(wanted) in (list, dict):
        return get_origin(wanted)()
    if isinstance(value, dict) and isinstance(wanted, type) and issubclass(wanted, Fields):
        fields = wanted.model_fields
        return {k: _suited(v, fields[k].annotation) for k, v in value.items() if k in fields}
    return value


def unfenced(text: str) -> str:
    """Returns PDDL without the fence around it."""
    opens = _FENCE_OPENS.match(text)
    return _FENCE_CLOSES.sub("", text[opens.end() :].rstrip()).rstrip() if opens else text


def peeled(line: str) -> str:
    """Removes the quotes, brackets, prompt signs, list marks, label and full stop around a command.
    The command itself is the model's and does not change."""
    while len(line) <= _LONGEST:
        inner = _AFTER.sub("", line.strip())
        if before := _BEFORE.match(inner):
            inner = inner[before.end() :]
        if bracketed := _IN_BRACKETS.fullmatch(inner):
            inner = next(part for part in bracketed.groups() if part)
        inner = _unquoted(inner.strip(" *_`$"))
        if inner == line:
            break
        line = inner
    return line


def _unquoted(line: str) -> str:
    """Removes a pair of quotes around the line."""
    first, last = line[:1], line[-1:]
    if len(line) > 2 and _QUOTES.get(first) == last:
        return line if re.search(rf"{last}\s", line[1:-1]) else line[1:-1]  # 'mug' in 'cup'
    return line


# The place where a model continues with the words of others: the game, its user, the next turn of
# a chat.
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
_SENTENCE = re.compile(rf"{any_of('sentence')}(?:['’]\w+)?\s", re.IGNORECASE)

Marked = tuple[Literal["act", "think"], str]


def bare(text: str, form: Form[Fields], *, cut: bool = False) -> Entries | None:
    """Returns the entries of an answer that is not written as an object, or None.

    If a text continues with imagined turns, the first turn that holds an answer is taken. If the
    token limit cut the text, only actions on complete lines are read in its last turn.
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
    """Finds the texts that are marked as an action or a thought, by a tag or by a label on the same
    line or the line above."""
    tagged = _TAGGED.findall(part)
    if tagged and "{" not in tagged[0][1]:
        inner = tagged[0][1]
        return _marked(inner) or [("act", inner)]
    found: list[Marked] = []
    lines = [line for line in _INLINE.sub("\n", part).splitlines() if line.strip(" \t`~")]
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        if thought := _THOUGHT.match(line):
            found.append(("think", thought[1]))
        elif named := _NAMED.match(line):
            found.append(("act", line[named.end() :].strip() or below))
    return found


def _acted(marked: list[Marked], form: Form[Fields], cut: bool) -> Entries | None:
    """Takes the first action, or a thought if there is no action."""
    actions = [text for kind, text in marked if kind == "act"]
    if form is COMMAND:
        return _command(actions[0]) if actions else None
    if actions:
        return {"kind": "act", "text": peeled(actions[0])}
    return None if cut else {"kind": "think", "text": marked[0][1].strip(" *_\"'`“”‘’")}


def _said(part: str, form: Form[Fields]) -> Entries | None:
    alone = _alone(part)
    if entries := _without_braces(alone, form):
        return entries
    if form is COMMAND:
        quoted = re.findall(r"(?:^|\n)[ \t]*`([^`\n]+)`[ \t.]*(?=\n|$)", part)
        lines = {line.strip() for line in (quoted if len(quoted) == 1 else alone.splitlines())}
        lines -= {""}
        return _command(lines.pop()) if len(lines) == 1 else None
    if form.name == "choice":
        found = (_NUMBER.fullmatch(line.strip(" *_#\"'`“”\t")) for line in alone.split("\n"))
        numbers = {int(one[1]) for one in found if one}
        return {"number": numbers.pop()} if len(numbers) == 1 else None
    if form is GOALS:
        return _list(alone)
    if form is TEXT and not re.search(r"[{}]|```", part):
        return {"text": alone}
    return None


def _alone(part: str) -> str:
    """Returns the content of the only tag or fence, or the whole part if there is none."""
    for pattern, group in (_TAGGED, 2), (_FENCED, 1), (_BOXED, 1):
        found = list(pattern.finditer(part))
        part = found[0][group] if len(found) == 1 else part
    return part.strip("\ufeff \t\r\n")


def _without_braces(alone: str, form: Form[Fields]) -> Entries | None:
    """Reads an object whose braces are missing, or lines like "number: 2"."""
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
    """Reads an array, or lines that are numbered or marked. A line before them may introduce them,
    and prose may surround lines that are numbered in order."""
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
