"""Reads one command: without the marks around it, from several lines, or behind a
label.

A command is never cut in half. Where the text does not say which part is the command,
there is none.
"""

# ruff: noqa: RUF001  # these quotes are intended

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pddlego_local.episode.reading.words import any_of


class Marked(NamedTuple):
    """A text that is marked as an action or a thought."""

    kind: Literal["act", "think"]
    text: str


NAMED = re.compile(  # "Action 1:", "**Action:**", "The next action is"
    r"[>*_#\s-]*+(?:(?:the |my |your )?(?:next |best |final |chosen"
    r" )?(?:action|command|act|answer)"
    r"(?: to take)?(?: is)?[ \t]*+[\[(#]?\d{0,3}[\])]?[*_ \t]*+(?:[:=]|[-=]>)"
    r"|(?:the |my )?(?:next|best|final|chosen) (?:action|command)(?: to take)? is "
    r"|(?:(?<=[*#])|(?<=# ))(?:next |final )?(?:action|command)(?=[*_ \t]*$))[*_ \t]*",
    re.IGNORECASE,
)
_BEFORE = re.compile(  # prompt signs, list marks, and names of speakers
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
_LONGEST = 400  # characters of a command with its marks
_LAST_WORD = 40  # characters, with the marks around the word
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}

_COMMAND = re.compile(r"[^\W\d_][\w '\"‘’“”/-]{0,79}")
_MOST_WORDS = 10
_SENTENCE = re.compile(rf"{any_of('sentence')}(?:['’]\w+)?\s", re.IGNORECASE)
_BREAKS_OFF = re.compile(rf"(?:^|\W){any_of('breaks_off')}\W*\Z", re.IGNORECASE)
_LINE_BREAK = re.compile(r"\r?\n|\\n")
_NO_LINE = " \t`~"  # a line of these characters alone is blank, or a fence

_ANSWER_TAG = "(?:next_|final_)?(?:action|act|command|answer|response|output)"
_TAGGED = re.compile(
    rf"<(?P<name>{_ANSWER_TAG})>(?P<inner>[^<]*)(?:</(?P=name)>|\Z)", re.IGNORECASE
)
_INLINE = re.compile(
    r"(?<=[.!?])[ \t]+(?=(?:Action|Act|Command) ?\d*:)|(?<![ \t])[ \t]+(?=Action"
    r" Input:)"
)
_THOUGHT = re.compile(
    r"[>*_#\s-]*(?:think|thought|reasoning)[*_\s]*+\d*+[*_\s]*+:[*_\s]*+(\S.*)", re.I
)
_ARGUMENT_NAME = rf"(?:(?:action|command|tool)[ _-]?)?{any_of('argument')}(?:[ _]?\d)?"
_ARGUMENT = re.compile(
    rf"[>*_#\s-]*+({_ARGUMENT_NAME})[*_ \t]*+[:=][*_ \t]*(.*)", re.IGNORECASE
)
_ARGUMENT_TAG = re.compile(rf"<({_ARGUMENT_NAME})>([^<]*)</", re.IGNORECASE)
_ALWAYS_ARGUMENT = re.compile(r"input|arg|param", re.IGNORECASE)
_CALL = re.compile(
    r"(?:take[ _])?(?:action|act|do|step|execute|command|perform)(?:["
    r" _](?:action|command))?",
    re.I,
)
_NO_ARGUMENT = re.compile(
    r"\W*(?:none|null|nothing|n/a|no (?:input|arguments?))?\W*", re.I
)


def peeled(line: str) -> str:
    """Removes the quotes, brackets, prompt signs, list marks, label and full stop
    around a command. The command itself is the model's and does not change.
    """
    while len(line) <= _LONGEST:
        inner = _AFTER.sub("", line.strip())
        if before := _BEFORE.match(inner):
            inner = inner[before.end() :]
        if bracketed := _IN_BRACKETS.fullmatch(inner):
            inner = next(filter(None, bracketed.groups()))
        inner = _unquoted(inner.strip(" *_`$"))
        if inner == line:
            break
        line = inner
    return line


def _unquoted(line: str) -> str:
    """Removes a pair of quotes around the line, but not those of 'mug' in 'cup'."""
    closing = _QUOTES.get(line[:1], "")
    if len(line) <= 2 or not closing or not line.endswith(closing):
        return line
    inner = line[1:-1]
    return line if re.search(rf"{closing}\s", inner) else inner


def command(text: str) -> str | None:
    """Returns the command in a text that looks like one, else None."""
    line = peeled(text)
    has_few_words = len(line.split()) <= _MOST_WORDS
    if not _COMMAND.fullmatch(line) or not has_few_words or _SENTENCE.match(line):
        return None
    return line


def breaks_off(text: str) -> bool:
    """Returns whether a text ends with a word that something must follow, such as
    "the".
    """
    end = text[-_LAST_WORD:]
    return _BREAKS_OFF.search(end) is not None


def is_step(text: str) -> bool:
    """Returns whether a text is a whole command."""
    line = command(text)
    return line is not None and not breaks_off(line)


def one_of_lines(text: str) -> str | None:
    """Returns the command of a text that may have several lines: the one that is
    marked, or the first if each line is a command. Returns None if it is unclear.
    """
    lines = [line for line in _LINE_BREAK.split(text) if line.strip(_NO_LINE)]
    if len(lines) < 2:
        return peeled(lines[0] if lines else text)
    for found in marked("\n".join(lines)):
        if found.kind == "act":
            return command(found.text)
    first = lines[0]
    if breaks_off(first) or not all(command(line) for line in lines):
        return None
    return command(first)


def with_argument(action: str, name: str, value: str) -> str:
    """Returns the command of an action and its argument, if one of the two is the whole
    command, else "". Joining them would mean to guess the words between them.
    """
    action = peeled(action)
    value = peeled(value)
    has_several_words = " " in action and not breaks_off(action)
    is_optional = has_several_words and not _ALWAYS_ARGUMENT.search(name)
    adds_nothing = _NO_ARGUMENT.fullmatch(value) or _words(value) <= _words(action)
    if is_optional or adds_nothing:
        return action
    repeats_action = value.lower().startswith(f"{action.lower()} ")
    if repeats_action or _CALL.fullmatch(action):
        return value
    return ""


def is_argument(key: str) -> bool:
    """Returns whether a key of an object names the argument of an action."""
    return re.fullmatch(_ARGUMENT_NAME, key, re.IGNORECASE) is not None


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def marked(part: str) -> list[Marked]:
    """Finds the texts that are marked as an action or a thought, by a tag or by a label
    on the same line or the line above.
    """
    tag = _TAGGED.search(part)
    if tag and "{" not in tag["inner"]:
        action = _with_tag(one_of_lines(tag["inner"]) or "", part)
        return marked(tag["inner"]) or [Marked("act", action)]
    found: list[Marked] = []
    split = _INLINE.sub("\n", part).splitlines()
    lines = [line for line in split if line.strip(_NO_LINE)]
    for number, line in enumerate(lines, start=1):
        below = lines[number : number + 2]
        argument = _ARGUMENT.match(line)
        if thought := _THOUGHT.match(line):
            found.append(Marked("think", thought[1]))
        elif named := NAMED.match(line):
            text = line[named.end() :].strip()
            found.append(Marked("act", _labelled(text, below)))
        elif argument and found and found[-1].kind == "act":
            name = argument[1]
            value = argument[2].strip()
            if not value and below:
                value = below[0]
            action = found.pop().text
            found.append(Marked("act", with_argument(action, name, value)))
    return found


def _labelled(text: str, below: Sequence[str]) -> str:
    """Returns the text behind a label or, if there is none, the line below it. If that
    is only the beginning of a command that the next line continues, the result is
    empty.
    """
    if not text and below:
        text, *below = below
    if not below or not breaks_off(text):
        return text
    labels = (NAMED, _THOUGHT, _ARGUMENT)
    is_label = any(label.match(below[0]) for label in labels)
    return text if is_label else ""


def _with_tag(action: str, part: str) -> str:
    argument = _ARGUMENT_TAG.search(part)
    if argument is None:
        return action
    name, value = argument.groups()
    return with_argument(action, name, value)
