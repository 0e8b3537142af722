"""The strict reader: JSON to the letter, or a fence for each of the two files.

An arm of its own (`decoding.reading=strict`), and how all records before that option were read.
"""

import re
from collections.abc import Iterator
from typing import TypeVar

import pydantic

from pddlego_local.decoding.forms import PDDL, PROBLEM, Fault, Form, Keys
from pddlego_local.episode.reading.objects import objects
from pddlego_local.episode.reading.value import Answer, filled

T = TypeVar("T", bound=Keys)

_FENCE_OPENS = re.compile(r"^[ \t]*```[^\n`]*\n", re.MULTILINE)
_FENCE_CLOSES = re.compile(r"^[ \t]*```[ \t]*$", re.MULTILINE)
_DOMAIN = re.compile(r"\(\s*domain\s", re.IGNORECASE)
_PROBLEM = re.compile(r"\(\s*problem\s", re.IGNORECASE)


def strict(text: str, form: Form[T]) -> Answer[T]:
    """Prose, fences and raw newlines may surround the answer; the last complete one counts.

    A JSON object of the form comes first, other keys in it are passed over; where PDDL is asked and
    there is none, the last fenced blocks with `(domain` and with `(problem`, in different blocks.
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
    if value is None:
        value = _fenced(text, form)
    return Answer(None, fault) if value is None else filled(value, form)


def _fenced(text: str, form: Form[T]) -> T | None:
    domain = problem = ""
    for block in _blocks(text):
        holds_domain, holds_problem = bool(_DOMAIN.search(block)), bool(_PROBLEM.search(block))
        if holds_domain and not holds_problem:
            domain = block
        elif holds_problem and not holds_domain:
            problem = block
    if form is PDDL and domain and problem:
        return form.keys.model_validate({"df": domain, "pf": problem})
    if form is PROBLEM and problem:
        return form.keys.model_validate({"pf": problem})
    return None


def _blocks(text: str) -> Iterator[str]:
    """What stands between fences, from left to right; behind a fence that none closes, nothing."""
    at = 0
    while (opens := _FENCE_OPENS.search(text, at)) and (
        closes := _FENCE_CLOSES.search(text, opens.end())
    ):
        yield text[opens.end() : closes.start()]
        at = closes.end()
