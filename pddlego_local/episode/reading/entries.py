"""From the entries of an object to those of a form: other names for its keys, keys too many, lists
of lines, fences around PDDL, and what stands around a command."""
# ruff: noqa: RUF001  # these quotes are meant

import re
from collections.abc import Mapping
from typing import Any, get_origin

from pddlego_local.decoding.forms import COMMAND, DOMAIN, MOVE, PDDL, PROBLEM, Form, Keys

Entries = dict[str, Any]

OF_FILES = (PDDL.name, DOMAIN.name, PROBLEM.name)
_OTHER_NAMES: Mapping[str, Mapping[str, str]] = {
    PDDL.name: {"domain": "df", "problem": "pf"},
    DOMAIN.name: {"domain": "df"},
    PROBLEM.name: {"problem": "pf"},
    COMMAND.name: dict.fromkeys(("command", "act", "next_action", "next action"), "action"),
}
_KINDS = {"thought": "think", "thinking": "think", "action": "act", "command": "act"}
_FILLER = re.compile(r"[\s_.-]|file|pddl|definition")
_FENCE_OPENS = re.compile(r"\s*(?:`{3,}|~{3,})[\w+.-]*[ \t]*(?:\r?\n)?")
_FENCE_CLOSES = re.compile(r"(?:`{3,}|~{3,})\Z")

NUMBER = re.compile(  # "2", "Option 2", "2. go to shelf 1", "I choose 2."
    r"(?:(?:the |my )?(?:best |next |final )?(?:answer|choice|number|option|action|selection)"
    r"(?: number)?(?: is)?\s*+[:=#]*+\s*+|i (?:would |will )?(?:choose|pick|select)(?: option)? )?"
    r"[#(\[]?(\d{1,4})[)\]]?(?:\.|[.:)]\s+\S.*)?",
    re.IGNORECASE,
)
NAMED = re.compile(  # "Action 1:", "**Action:**", "The next action is"
    r"[>*_#\s-]*+(?:(?:the |my |your )?(?:next |best |final |chosen )?(?:action|command|act|answer)"
    r"(?: to take)?(?: is)?[ \t]*+[\[(#]?\d{0,3}[\])]?[*_ \t]*+(?:[:=]|[-=]>)"
    r"|(?:the |my )?(?:next|best|final|chosen) (?:action|command)(?: to take)? is "
    r"|(?:(?<=[*#])|(?<=# ))(?:next |final )?(?:action|command)(?=[*_ \t]*$))[*_ \t]*",
    re.IGNORECASE,
)
_BEFORE = re.compile(  # signs of a prompt and a list, names of who speaks
    r"(?:[>$]+\s*|[-*•]\s+|\d{1,2}[.)]\s+|(?:step \d+|assistant|ai|agent|player)\s*:\s*"
    rf"|{NAMED.pattern})+",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"\(([^()]+)\)|\[([^\[\]]+)\]|\\boxed\{(.+)\}|\\text\{([^{}]+)\}|\\\((.+)\\\)"
    r"|(?:action|act|do|step|execute)[(\[]([^()\[\]]+)[)\]]",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?:\s|<\|[^<>|]{1,40}\|>|</s>|<end_of_turn>|(?<![.])\.)+\Z")
_LONGEST = 400  # of a command with what stands around it
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}


def fitted(entries: Entries, form: Form[Keys]) -> Entries:
    """The entries that the form asks for, under its names and as it wants them."""
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
    """A move, also where its kind is the key: {"thought": "…", "action": "look"}."""
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


def _name(name: str, form: Form[Keys]) -> str:
    """As the form spells it, if it is one of its names: "Domain File" is "df"."""
    name = name.strip().lower()
    if form.name in OF_FILES:
        name = _FILLER.sub("", name)
    return _OTHER_NAMES.get(form.name, {}).get(name, name)


def _suited(value: object, wanted: Any) -> object:
    """A list of lines is a text; nothing at all is written [] or {}; keys too many go."""
    if wanted is str and isinstance(value, list) and value:
        lines = [line for line in value if isinstance(line, str)]
        ended = all(line.endswith("\n") for line in lines[:-1])
        return ("" if ended else "\n").join(lines) if len(lines) == len(value) else value
    if wanted is int and isinstance(value, str) and (number := NUMBER.fullmatch(value.strip())):
        return int(number[1])
    if value in ([], {}) and get_origin(wanted) in (list, dict):
        return get_origin(wanted)()
    if isinstance(value, dict) and isinstance(wanted, type) and issubclass(wanted, Keys):
        fields = wanted.model_fields
        return {k: _suited(v, fields[k].annotation) for k, v in value.items() if k in fields}
    return value


def unfenced(text: str) -> str:
    """PDDL without a fence around it."""
    opens = _FENCE_OPENS.match(text)
    return _FENCE_CLOSES.sub("", text[opens.end() :].rstrip()).rstrip() if opens else text


def peeled(line: str) -> str:
    """A command without what stands around it: quotes, brackets, signs of a prompt or a list, its
    name, a full stop. The command itself is the model's: nothing in it changes."""
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
    """Without a pair of quotes around it."""
    first, last = line[:1], line[-1:]
    if len(line) > 2 and _QUOTES.get(first) == last:
        return line if re.search(rf"{last}\s", line[1:-1]) else line[1:-1]  # 'mug' in 'cup'
    return line
