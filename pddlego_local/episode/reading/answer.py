"""From what a model wrote to the value that its form asks for, or to the named reason for none. An
answer that could not have been drawn under its grammar is our fault and raised, not the model's.
"""

import json
import re
from dataclasses import dataclass
from typing import Generic, TypeVar

import pydantic

from pddlego_local.core.errors import GrammarIgnored
from pddlego_local.core.nouns import Completion, Messages
from pddlego_local.decoding.forms import DOMAIN, PDDL, PROBLEM, Fault, Fields, Form, T_co
from pddlego_local.decoding.settings import Reading
from pddlego_local.episode.reading.lenient import lenient
from pddlego_local.episode.reading.objects import objects
from pddlego_local.episode.reading.thoughts import Markers

T = TypeVar("T", bound=Fields)

_FENCED = re.compile(  # behind a fence that none closes there is nothing
    r"^[ \t]*```[^\n`]*\n(?:(.*?)^[ \t]*```[ \t]*$|.*)", re.MULTILINE | re.DOTALL
)
_KIND = re.compile(r"\(\s*(domain|problem)\s", re.IGNORECASE)
_KEYS = {"domain": "df", "problem": "pf"}


@dataclass(frozen=True)
class Answer(Generic[T_co]):
    """The value that was asked for, or None and the `fault` that left none:

    - "empty": nothing but blanks, or a text that was asked for is nothing but blanks
    - "truncated": cut by a token limit before a whole answer stood there
    - "unfinished_thought": a reasoning model thought until it ran out of tokens
    - "no_json": no JSON object in it (nor, when free, another way of writing what is asked)
    - "wrong_keys": a JSON object, but not one of the form
    - "placeholder": only what stands for an answer, as "..." or "<domain file>"

    `redundant` is what was left out of the value because it was said twice.
    """

    value: T_co | None
    fault: Fault
    redundant: tuple[str, ...] = ()


def read_free(
    completion: Completion,
    form: Form[T],
    *,
    reading: Reading = "lenient",
    prompt: Messages = (),
    markers: Markers | None = None,
    problem: str = "",
) -> Answer[T]:
    """The value of a free answer, as strictly as `reading` says; `prompt` is what was asked, and
    `markers` stand around the model's thoughts; an edit is one of `problem`."""
    if completion.finish_reason == "unfinished_thought":
        return Answer(None, "unfinished_thought")
    cut = completion.finish_reason == "length"
    if reading == "lenient":
        found = lenient(
            completion.text, form, cut=cut, prompt=prompt, markers=markers, problem=problem
        )
        return answer(found.taken.value if found.taken else None, found.fault, form)
    return Answer(None, "truncated") if cut else strict(completion.text, form)


def read_constrained(completion: Completion, form: Form[T]) -> Answer[T]:
    """The value of an answer that was drawn under a grammar: of exactly what that permits.

    Raises GrammarIgnored if a finished answer does not have the form. Whether it is in the
    grammar's language the session says, where it is drawn.
    """
    if completion.finish_reason != "stop":
        cut = completion.finish_reason == "length"
        return Answer(None, "truncated" if cut else "unfinished_thought")
    try:
        value = form.keys.model_validate(json.loads(completion.text), strict=True)
        keys = [key for key, _ in json.loads(completion.text, object_pairs_hook=list)]
    except (ValueError, RecursionError):
        keys = []
    if keys != list(form.keys.model_fields):
        raise GrammarIgnored(
            f"A finished answer is not the {form.name!r} that its grammar makes: the model's "
            "backend does not obey grammars; start the server with the guidance backend, or choose "
            "decoding=free."
        )
    return answer(value, "", form)


def answer(value: T | None, fault: Fault, form: Form[T]) -> Answer[T]:
    """The value, unless a text that was asked for is blank or could stand in no file."""
    if value is None:
        return Answer(None, fault)
    entries = value.model_dump()
    for key, text in entries.items():
        if isinstance(text, str) and not text.strip() and key not in form.may_be_blank:
            return Answer(None, "empty")
    try:
        json.dumps(entries, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a character, as "\ud800"
        return Answer(None, "no_json")
    return Answer(value, "")


def strict(text: str, form: Form[T]) -> Answer[T]:
    """JSON to the letter, or a fence for each of the two files: an arm of its own
    (`decoding.reading=strict`), and how all records before that option were read.

    Prose, fences and raw newlines may surround the answer; the last complete one counts. A JSON
    object of the form comes first, other keys in it are passed over; where PDDL is asked and there
    is none, the last fenced blocks with `(domain` and with `(problem`, in different blocks.
    """
    if not text.strip():
        return Answer(None, "empty")
    fault: Fault = "no_json"
    value: T | None = None
    keys = form.keys.model_fields
    for found in objects(text, lambda entries: keys.keys() <= entries.keys(), exactly=True):
        try:
            value = form.keys.model_validate({k: v for k, v in found.entries.items() if k in keys})
        except pydantic.ValidationError:
            fault = "wrong_keys"
    if value is None and form in (PDDL, DOMAIN, PROBLEM):
        texts = {}
        for block in _FENCED.findall(text):
            if len(kinds := {kind.lower() for kind in _KIND.findall(block)}) == 1:
                texts[_KEYS[kinds.pop()]] = block
        if keys.keys() <= texts.keys():
            value = form.keys.model_validate({key: texts[key] for key in keys})
    return answer(value, fault, form)
